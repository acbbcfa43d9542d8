package values

import (
	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/internal/opdef"
)

var rankCheck = check.Check{
	ID: "rank", Group: check.GroupShapes, Generated: true,
	Doc:     "any number of leading dimensions gives what the reference gives",
	Needs:   hasBatch,
	Foreign: check.Judges,
	Run:     check.WithKernelsOnly(checkRank),
}

func hasBatch(op *opdef.Op, _ calls.Caller) error {
	return check.SkipUnless(op.HasBatch(), "the op has no leading dimensions")
}

func checkRank(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.RankPlans(t.Op, d) }, t.ExpectCaseValues)
}
