package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var magnitudesCheck = check.Check{
	ID: "magnitudes", Group: check.GroupValues, Generated: true,
	Doc:     "large inputs do not overflow on the way, denormal ones are not flushed",
	Foreign: check.Judges, Run: checkMagnitudes,
}

// checkMagnitudes uses inputs near the largest numbers whose squares float32 still holds, and denormal ones.
func checkMagnitudes(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan {
		p := cases.BasePlan(d)
		p.Name, p.Scale = "large", 1e17
		for _, f := range cases.Floats(t.Op, d) {
			p.Scale = min(p.Scale, ndarray.Max(f)/6) // six standard deviations fit
		}
		return []cases.Plan{p, cases.DenormalPlan(t.Op, d)}
	}, func(c *cases.Case) error { return expectExtremeValues(t, c) })
}
