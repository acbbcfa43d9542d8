package gradients

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/transforms"
)

var functionalCallCheck = check.Check{
	ID: "functional-call", Group: check.GroupTransform, Generated: true,
	Doc:     "gradients through torch.func.functional_call are the same",
	Through: check.ThroughAdaptors,
	Needs:   transforms.Offers("torch.func", transforms.Differentiates),
	Foreign: check.TransformsGenerated,
	Run:     checkFunctionalCall,
}

func checkFunctionalCall(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		p, err := transforms.Prepare(t, c, true, "functional")
		if err != nil {
			return err
		}
		r, err := transforms.SendTransformation(t, c.Name, transforms.Request("module", nil, p))
		if err != nil {
			return err
		}
		transforms.ExpectArrays(t, c.Name, r, 0, p.Gradients)
		return nil
	})
}
