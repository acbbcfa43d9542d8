package batching

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var vmapEmptyCheck = transformed.Check("vmap-empty", transformed.Transforms,
	"a map over nothing gives empty results and launches nothing", checkMapEmpty)

// checkMapEmpty maps all inputs, then each alone, over no slices.
func checkMapEmpty(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		n := len(cases.GivenInputs(c))
		if err := check.Proceed(expectMapped(t, c, level{0, slices.Repeat([]any{0}, n)})); err != nil {
			return err
		}
		for place := range n {
			one := make([]any, n)
			one[place] = 0
			if err := check.Proceed(expectMapped(t, c, level{0, one})); err != nil {
				return err
			}
		}
		return nil
	})
}
