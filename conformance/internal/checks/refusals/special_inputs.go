package refusals

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/transform"
)

var specialInputsCheck = check.Check{
	ID: "special-inputs", Group: check.GroupErrors, Generated: true,
	Doc:   "special arrays give right results or a documented error, never a crash",
	Needs: hasProbes, Foreign: check.Judges, Run: check.WithFewerDTypes(checkSpecialInputs),
}

func hasProbes(_ *opdef.Op, caller calls.Caller) error {
	return check.SkipUnless(len(caller.Probes(check.GroupSpecial)) > 0, "the framework has no special arrays")
}

// checkSpecialInputs calls with the arrays that frameworks have beside plain ones. Each probe of the worker gives either
// the result of the plain call or an error of ours; a crash or a different result is a failure.
func checkSpecialInputs(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return specialPlans(t, d) }, func(c *cases.Case) error {
		plain, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		return check.ForEach(t.Caller.Probes(check.GroupSpecial), func(probe calls.Probe) error {
			if probe.Out && t.Op.InstanceOf != nil {
				return nil // it has no out=
			}
			return callSpecial(t, c, plain, probe)
		})
	})
}

// specialPlans are the base call and, where shapes may be empty lists, one with arrays of rank 0.
func specialPlans(t *check.T, d cases.DTypes) []cases.Plan {
	plans := []cases.Plan{cases.BasePlan(d)}
	if t.Op.HasBatch() {
		plans = append(plans, cases.Plan{Name: "scalar", DTypes: d, Batch: []int64{}})
	}
	return plans
}

func callSpecial(t *check.T, c *cases.Case, plain *calls.Result, probe calls.Probe) error {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	call.Probe, call.Options = check.GroupSpecial+"."+probe.Name, map[string]any{
		"short": shortNames(), "moves": movingInputs(t.Op), "zeros": zeroInputs(c),
	}
	name := probe.Name + ", " + c.Name
	result, err := t.Call(call, name)
	if err != nil {
		return err
	}
	if result.Error != nil {
		if !t.IsOpError(result.Error) {
			t.Fail(call, name, "raised %s: %s\n%s", result.Error.Class, result.Error.Text, result.Error.Trace)
		}
		return nil
	}
	if result = t.ExpectSuccess(call, name, result); result == nil || !t.ExpectMetadata(call, name, c, result) {
		return nil
	}
	if !slices.ContainsFunc(result.Outputs, func(o calls.Output) bool { return o.Abstract }) {
		return t.ExpectBitsOrReference(call, c, name, result, plain)
	}
	return nil
}

// movingInputs are the inputs of which the op of tangents takes tangents.
func movingInputs(op *opdef.Op) []int64 {
	places := []int64{}
	if link := transform.TangentOf(op); link != nil {
		for _, o := range link.Operands {
			if o.From == transform.FromTangent {
				places = append(places, int64(o.Index))
			}
		}
	}
	return places
}

// zeroInputs are the inputs that may hold zeros, as the definition says.
func zeroInputs(c *cases.Case) []int64 {
	places := []int64{}
	for i := range c.Op.Inputs {
		if x := c.Inputs[i]; x != nil && c.InRange(&c.Op.Inputs[i], ndarray.Full(x.DType, []int64{1}, 0)) {
			places = append(places, int64(i))
		}
	}
	return places
}

// shortNames are the short names of all dtypes, by the long ones.
func shortNames() map[string]any {
	names := map[string]any{}
	for _, d := range dtype.Table {
		names[d.Long] = d.Short
	}
	return names
}
