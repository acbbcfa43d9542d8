package memory

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var freshOutputsCheck = check.Check{
	ID: "fresh-outputs", Group: check.GroupAliasing, Generated: true,
	Doc:     "outputs share memory with nothing, and stay as they are when the op is called again",
	Through: check.ThroughAdaptors, Foreign: check.Judges, Run: check.WithFewerDTypes(checkFresh),
}

// checkFresh expects outputs in memory of their own, in one call and in several.
func checkFresh(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		call, result, err := t.RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		inputs := len(call.Tensors()) - len(call.GivenOutputs()) - len(call.Scratch)
		for i, o := range result.Existing() {
			for k, span := range result.Spans[:inputs] {
				if overlap(o.Span, span) && (o.ArgumentIndex != k || cases.Slots(t.Op)[i].Input < 0) {
					t.Fail(call, c.Name, "%s shares memory with array argument %d", cases.Slots(t.Op)[i].Name, k)
				}
			}
			for k, other := range result.Existing() {
				if k < i && overlap(o.Span, other.Span) {
					t.Fail(call, c.Name, "%s shares memory with %s", cases.Slots(t.Op)[i].Name, cases.Slots(t.Op)[k].Name)
				}
			}
		}
		return expectKept(t, c)
	})
}

// expectKept has the worker call twice and keep both results: those of the first call stay as they are. In the second call, inputs of
// floating point that may hold any numbers have them in reversed order.
func expectKept(t *check.T, c *cases.Case) error {
	turn := []int64{}
	for i, in := range t.Op.Inputs {
		free := in.Min == nil && in.Max == nil && !in.Sorted && !in.Mutated && !c.Sampled[in.Name]
		if free && c.Inputs[i] != nil && c.Inputs[i].DType.Inexact() {
			turn = append(turn, int64(i))
		}
	}
	if len(turn) == 0 || !check.OffersProbe(t.Caller, check.GroupWatch, "kept") {
		return nil
	}
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	call.Kernel = t.ForcedKernel()
	result, err := t.CallWatched("kept", call, c.Name, map[string]any{"turn": turn})
	if err != nil {
		return err
	}
	if err := t.Declined(call, result); err != nil {
		return err
	}
	if result.Error != nil {
		t.Fail(call, c.Name, "called twice, it raised %s\n%s", result.Error, result.Error.Trace)
		return nil
	}
	returned := calls.ReturnedSlots(call, t.Caller)
	for _, i := range addresses(result.Notes["changed"]) {
		t.Fail(call, c.Name, "%s became another array when the op was called again: the op hands out the same memory", returned[i].Name)
	}
	return nil
}

func overlap(a, b [2]uint64) bool { return a[0] < b[1] && b[0] < a[1] }
