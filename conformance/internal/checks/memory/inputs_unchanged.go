package memory

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var inputsUnchangedCheck = check.Check{
	ID: "inputs-unchanged", Group: check.GroupAliasing,
	Doc:     "inputs keep their bytes",
	Through: check.ThroughAdaptors, Foreign: check.Judges, Run: check.WithFewerDTypes(checkUnchanged),
}

// checkUnchanged compares the bytes of the inputs before and after calls, with results and with strides.
func checkUnchanged(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, func(c *cases.Case) error {
		call, result, err := t.RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		t.ExpectInputsUnchanged(call, c.Name, result)
		t.ExpectOverwritten(call, c.Name, result)
		return nil
	})
}
