package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var repeatedCheck = check.Check{
	ID: "repeated", Group: check.GroupValues, Generated: true,
	Doc:     "two runs give the same bits",
	Needs:   check.When(func(op *opdef.Op) bool { return op.Deterministic }, "the definition does not promise the same bits"),
	Foreign: check.Judges, Run: check.WithFewerDTypes(checkRepeated),
}

// checkRepeated calls twice: the bits are the same.
func checkRepeated(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, func(c *cases.Case) error {
		want, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		return t.ExpectCaseBits(c, want)
	})
}
