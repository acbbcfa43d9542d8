package values

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var repeatedCheck = check.Check{
	ID: "repeated", Group: check.GroupValues, Generated: true,
	Doc:     "two runs give the same bits",
	Needs:   isDeterministic,
	Foreign: check.Judges,
	Run:     check.WithFewerDTypes(checkRepeated),
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

func isDeterministic(op *opdef.Op, _ calls.Caller) error {
	return check.SkipUnless(op.Deterministic, "the definition does not promise the same bits")
}
