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
		p, err := transformed.Prepare(t, c, true, "functional")
		if err != nil {
			return err
		}
		r, err := transformed.SendTransformation(t, c.Name, transformed.Request("module", nil, p))
		if err != nil {
			return err
		}
		transformed.ExpectArrays(t, c.Name, r, 0, p.Gradients)
		return nil
	})
}
