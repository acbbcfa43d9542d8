package memory

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var mutatedCheck = check.Check{
	ID: "mutated", Group: check.GroupAliasing, Profile: check.ProfileFast,
	Doc:     "overwritten inputs change in place and are the results",
	Through: check.ThroughAdaptors, Needs: hasMutated, Foreign: check.Judges, Run: check.WithFewerDTypes(checkMutated),
}

// checkMutated calls with every kind of size, with guard bytes around what is overwritten: the arguments change, in place,
// to what is returned, and nothing else does.
func checkMutated(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, func(c *cases.Case) error {
		guarded := c
		for i, x := range c.Inputs {
			if x != nil && t.Op.Inputs[i].Mutated && calls.WritesMemory(t.Caller) {
				guarded = guarded.With(i, ndarray.Guarded(x, calls.GuardElements, calls.GuardByte), t.Op.Inputs[i].Name+" guarded")
			}
		}
		call, result, err := t.RunCase(t.Caller, guarded)
		if err != nil {
			return err
		}
		t.ExpectOverwritten(call, c.Name, result)
		return t.ExpectReference(call, c, result)
	})
}
