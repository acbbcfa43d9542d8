package gradients

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var gradFunctionalCheck = check.Check{
	ID: "grad-functional", Group: check.GroupTransform, Generated: true,
	Doc:     "torch.func.vjp gives the same gradients",
	Through: check.ThroughAdaptors,
	Needs:   transformed.Offers("torch.func", transformed.Differentiates),
	Foreign: check.TransformsGenerated,
	Run:     checkVJP,
}

func checkVJP(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error { return gradientOf(t, c, "vjp", nil) })
}
