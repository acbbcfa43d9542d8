package conformance

import (
	"slices"
	"strings"
)

// refusals are the classes with which an op may refuse a special input.
var refusals = []string{"TypeError", "ValueError", "NotImplementedError"}

// checkSpecialInputs calls with the arrays that frameworks have beside plain ones. Each probe of the worker gives either
// the result of the plain call or an error of ours; a crash or a different result is a failure.
func checkSpecialInputs(t *T) error {
	return t.eachCase(t.specialPlans, func(c *Case) error {
		plain, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		return forEach(t.Caller.Probes(groupSpecial), func(probe Probe) error { return t.probe(c, plain, probe) })
	})
}

// specialPlans are the base call and, where shapes may be empty lists, one with arrays of rank 0.
func (t *T) specialPlans(d dtypes) []plan {
	plans := []plan{base(d)}
	if t.Op.HasBatch() {
		plans = append(plans, plan{name: "scalar", dtypes: d, batch: []int64{}})
	}
	return plans
}

func (t *T) probe(c *Case, plain *Result, probe Probe) error {
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	call.Probe = groupSpecial + "." + probe.Name
	name := probe.Name + ", " + c.Name
	result, err := t.Call(call, name)
	if err != nil {
		return err
	}
	if result.Error != nil {
		if !t.refused(result.Error) {
			t.Fail(call, name, "raised %s: %s\n%s", result.Error.Class, result.Error.Text, result.Error.Trace)
		}
		return nil
	}
	if result = t.succeeded(call, name, result); result == nil || !t.shaped(call, name, c, result) {
		return nil
	}
	if !slices.ContainsFunc(result.Outputs, func(o Output) bool { return o.Abstract }) {
		return t.agrees(call, c, name, result, plain)
	}
	return nil
}

// refused reports whether an error is one of ours.
func (t *T) refused(e *CallError) bool {
	if t.env.foreign != nil {
		return true // in the words of its author
	}
	return slices.Contains(refusals, e.Class) && strings.HasPrefix(e.Text, t.Op.Name+": ")
}
