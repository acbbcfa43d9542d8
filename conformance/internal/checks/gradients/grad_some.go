package gradients

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var gradSomeCheck = transformed.Check("grad-some", transformed.Differentiates,
	"gradients of some inputs are those of all", checkGradSome)

// checkGradSome differentiates by each input alone.
func checkGradSome(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		whole, err := transformed.Prepare(t, c, true, "grad")
		if err != nil {
			return err
		}
		for k, place := range whole.Wrt {
			p := *whole
			p.Wrt, p.Gradients = []int{place}, whole.Gradients[k:k+1]
			if err := check.Proceed(gradients(t, fmt.Sprintf("%s, by input %d", c.Name, place), "grad", nil, &p)); err != nil {
				return err
			}
		}
		return nil
	})
}
