package values

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var attrSizesCheck = check.Check{
	ID: "attr-sizes", Group: check.GroupValues, Generated: true,
	Doc:     "every attr value, and a call without each optional input, gives what the reference gives for 1,031 elements along each dimension",
	Through: check.ThroughAdaptors, Needs: check.When(hasChoices, "the op has no attrs that choose, and no optional inputs"),
	Foreign: check.Judges, Run: check.WithKernelsOnly(checkAttrSizes),
}

// hasChoices holds for ops with an attr that chooses, or an optional input.
func hasChoices(op *opdef.Op) bool {
	return slices.ContainsFunc(op.Attrs, func(a opdef.Attr) bool { return cases.Chooses(&a) }) ||
		slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.Optional })
}

func checkAttrSizes(t *check.T) error {
	if err := skipCompiled(t); err != nil {
		return err
	}
	return t.EachRow(func(d cases.DTypes) error {
		made := t.CasesOf(cases.AttrSizePlans(t.Op, d))
		if len(made) == 0 {
			t.CurrentRow().Unsupported = "no size near 1,031 meets the conditions"
		}
		return check.ForEach(made, func(c *cases.Case) error { return longCall(t, c, cases.LongSize) })
	})
}
