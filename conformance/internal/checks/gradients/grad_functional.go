package gradients

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var gradFunctionalCheck = transformed.Check("grad-functional", transformed.Offers("torch.func", transformed.Differentiates),
	"torch.func.vjp gives the same gradients", checkVJP)

func checkVJP(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error { return gradientOf(t, c, "vjp", nil) })
}
