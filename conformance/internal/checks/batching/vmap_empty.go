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
		maps := [][]any{slices.Repeat([]any{0}, n)}
		for place := range n {
			one := make([]any, n)
			one[place] = 0
			maps = append(maps, one)
		}
		return check.ForEach(maps, func(axes []any) error { return expectMapped(t, c, level{0, axes}) })
	})
}
