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
		left := whole.Gradients
		return check.ForEach(whole.Wrt, func(place int) error {
			p := *whole
			p.Wrt, p.Gradients, left = []int{place}, left[:1], left[1:]
			return gradients(t, fmt.Sprintf("%s, by input %d", c.Name, place), nil, &p)
		})
	})
}
