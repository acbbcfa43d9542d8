package transforms

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/opdef"
)

var outputStridesCheck = check.Check{
	ID: "output-strides", Group: check.GroupStrides, Generated: true,
	Doc:     "results are dense whatever the strides of inputs, and those without data have the same strides",
	Through: check.ThroughAdaptors, Needs: stridedResults, Foreign: check.AboutGenerated, Run: checkOutputStrides,
}

// checkOutputStrides gives inputs every layout, one layout at a time: real results are dense, or keep the strides of what
// is overwritten, and what a framework says without computing is the same.
func checkOutputStrides(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		return check.ForEach(cases.LaidOutCases(c, "transposed", "sliced", "stepped", "expanded", "reversed", "flipped"), func(view *cases.Case) error {
			if _, fakes := t.Caller.(calls.Transformer); fakes && transformed.Transforms(t.Op, t.Caller) == nil {
				return expectFakeMetadata(t, view)
			}
			call, result, err := t.RunCase(t.Caller, view)
			if err != nil {
				return err
			}
			t.ExpectMetadata(call, view.Name, view, result)
			return nil
		})
	})
}

// stridedResults holds where results have strides that a caller can see.
func stridedResults(op *opdef.Op, caller calls.Caller) error {
	if calls.IsBare(caller) {
		return check.Skip("the caller gives the arrays for the results")
	}
	return check.TakesStrides(op, caller)
}
