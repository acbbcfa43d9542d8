package gradients

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var gradCheck = check.Check{
	ID: "grad", Group: check.GroupTransform,
	Doc:     "gradients have the bits of the gradient op fed with the cotangent, with and without each optional input",
	Through: check.ThroughAdaptors, Needs: transformed.Differentiates, Foreign: check.TransformsGenerated,
	Run: check.WithFewerDTypes(checkGrad),
}

// checkGrad differentiates by all inputs.
func checkGrad(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.OptionalPlans(t.Op, d) }, func(c *cases.Case) error {
		p, r, err := transformed.Ask(t, c, "grad", "grad", nil)
		if err == nil {
			p.Expect(t, c.Name, r.In("", 0))
		}
		return err
	})
}
