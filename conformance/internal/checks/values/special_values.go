package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var specialValuesCheck = check.Check{
	ID: "special-values", Group: check.GroupValues, Generated: true, Profile: check.ProfileFast,
	Doc:     "NaN, infinities, -0, denormals and the largest number appear in results where the reference has them",
	Foreign: check.Judges, Run: check.WithFewerDTypes(checkSpecials),
}

// checkSpecials puts special numbers into each float input in turn, and a few where an attribute has another value or an input is
// left out.
func checkSpecials(t *check.T) error {
	expect := func(c *cases.Case) error { return expectExtremeValues(t, c) }
	return t.EachCase(cases.BaseOnly, func(base *cases.Case) error {
		if err := check.ForEach(base.SingleSpecials(), expect); err != nil || t.Env.Foreign.Callables() {
			return err // which of equal numbers comes first is for a framework to choose
		}
		if compiles(t.Caller) {
			return nil // callers that compile nothing show what a kernel makes of more of them
		}
		if err := check.ForEach(base.SpecialRows(), expect); err != nil {
			return err
		}
		return check.ForEach(t.CasesOf(cases.SpecialPlans(base)), func(c *cases.Case) error { return check.ForEach(c.FewSpecials(), expect) })
	})
}
