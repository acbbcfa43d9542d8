package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var shapeCheck = check.Check{
	ID: "shape", Group: check.GroupShapes,
	Doc:     "shapes and dtypes are the inferred ones, by exactly one kernel launch",
	Foreign: check.Judges, Run: checkShape,
}

// checkShape compares inferred and actual shape and dtype of every sample of every size, and counts the launches: one, or
// none when every output is empty. An adaptor that computes with its framework instead would launch none.
func checkShape(t *check.T) error {
	plans := func(d cases.DTypes) []cases.Plan {
		return append(cases.ValuePlans(t.Op, d), cases.RankPlans(t.Op, d)...)
	}
	return t.EachCase(plans, func(c *cases.Case) error {
		call, result, err := t.RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		t.ExpectMetadata(call, c.Name, c, result)
		t.ExpectLaunchOfKernel(call, c, result)
		return nil
	})
}
