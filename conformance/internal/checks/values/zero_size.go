package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var zeroSizeCheck = check.Check{
	ID: "zero-size", Group: check.GroupZero, Profile: check.ProfileFast,
	Doc:     "every dimension may be zero: results have the right shapes and neutral values",
	Needs:   check.When(func(op *opdef.Op) bool { return len(cases.ZeroPlans(op, nil)) > 0 }, "the op has no free dimension"),
	Foreign: check.Judges, Run: check.WithFewerDTypes(checkZero),
}

// checkZero makes each dimension zero: the right shapes, neutral values, no launch where nothing is to be computed, and a
// caller that still works afterwards.
func checkZero(t *check.T) error {
	return t.EachRow(func(d cases.DTypes) error {
		err := check.ForEach(t.CasesOf(cases.ZeroPlans(t.Op, d)), func(c *cases.Case) error {
			call, result, err := t.RunCase(t.Caller, c)
			if err != nil || !t.ExpectMetadata(call, c.Name, c, result) {
				return err
			}
			t.ExpectLaunchOfKernel(call, c, result)
			return t.ExpectReference(call, c, result)
		})
		if err != nil {
			return err
		}
		after, err := t.NewCase(cases.BasePlan(d))
		if err != nil {
			return err
		}
		return t.ExpectCaseValues(after)
	})
}
