package values

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var attrsCheck = check.Check{
	ID: "attrs", Group: check.GroupValues, Profile: check.ProfileFast,
	Doc: "every attr value, and every pair of values, with and without each optional input, gives what the reference gives",
	Needs: check.When(func(op *opdef.Op) bool {
		return slices.ContainsFunc(op.Attrs, func(a opdef.Attr) bool { return a.Binds == "" })
	}, "the op has no attrs"),
	Foreign: check.Judges,
	Run:     check.WithFewerDTypes(checkAttrs),
}

func checkAttrs(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan {
		return append(cases.AttrPlans(t.Op, d), cases.PairPlans(t.Op, d)...)
	}, t.ExpectCaseValues)
}
