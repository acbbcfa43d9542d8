package agreement

import (
	"math"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var bitsCheck = check.Check{
	ID: "bits", Group: check.GroupAcross,
	Doc:   "the bits are those of the bare backend, eager and jitted",
	Needs: check.NotBackend, Foreign: check.ComparedWithBackend, Run: checkBits,
}

func checkBits(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan {
		return append(cases.ValuePlans(t.Op, d), signedZeroPlans(t.Op, d)...)
	}, func(c *cases.Case) error { return expectBackendBits(t, c) })
}

// signedZeroPlans give each float attr zero, then minus zero: programs that are kept by their attrs must tell them apart.
func signedZeroPlans(op *opdef.Op, d cases.DTypes) []cases.Plan {
	var plans []cases.Plan
	for i := range op.Attrs {
		a := &op.Attrs[i]
		low, hasLow := cases.ToFloat(a.Min)
		high, hasHigh := cases.ToFloat(a.Max)
		if a.Type != "float" || hasLow && low > 0 || hasHigh && high < 0 {
			continue
		}
		for _, p := range cases.OptionalPlans(op, d) { // what is added may hide the sign
			for _, zero := range []float64{0, math.Copysign(0, -1)} {
				p.Attrs = map[string]any{a.Name: zero}
				plans = append(plans, p)
			}
		}
	}
	return plans
}
