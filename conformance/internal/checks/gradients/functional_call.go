package gradients

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var functionalCallCheck = transformed.Check("functional-call", transformed.Offers("torch.func", transformed.Differentiates),
	"gradients through torch.func.functional_call are the same", checkFunctionalCall)

func checkFunctionalCall(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		p, r, err := transformed.Ask(t, c, "functional", "module", nil)
		if err != nil {
			return err
		}
		transformed.Expect(t, c.Name, r.In("", 0), p.Gradients)
		return nil
	})
}
