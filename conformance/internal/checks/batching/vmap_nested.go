package batching

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var vmapNestedCheck = transformed.Check("vmap-nested", transformed.Transforms,
	"two maps over different arguments give the stacked results", checkMapNested)

// checkMapNested maps all inputs twice, and each input in a level of its own.
func checkMapNested(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		n := len(cases.GivenInputs(c))
		all := slices.Repeat([]any{0}, n)
		nested := [][]level{{{2, all}, {3, all}}}
		for place := range n {
			one, others := make([]any, n), slices.Repeat([]any{-1}, n)
			one[place], others[place] = 0, nil
			if n == 1 {
				others = all
			}
			nested = append(nested, []level{{2, others}, {3, one}})
		}
		return check.ForEach(nested, func(levels []level) error { return expectMapped(t, c, levels...) })
	})
}
