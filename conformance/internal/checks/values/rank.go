package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var rankCheck = check.Check{
	ID: "rank", Group: check.GroupShapes, Generated: true,
	Doc:     "any number of leading dimensions gives what the reference gives",
	Needs:   check.When(func(op *opdef.Op) bool { return op.HasBatch() }, "the op has no leading dimensions"),
	Foreign: check.Judges, Run: check.WithKernelsOnly(checkRank),
}

func checkRank(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.RankPlans(t.Op, d) }, t.ExpectCaseValues)
}
