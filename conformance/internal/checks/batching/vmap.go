package batching

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var vmapCheck = transformed.Check("vmap", transformed.Transforms,
	"an op that is mapped over any of its arguments, along the first or last axis, gives the stacked results, by one launch where the definition says merged", checkMap)

// mostSubsets is how many inputs at most are mapped in all combinations.
const mostSubsets = 5

// checkMap maps subsets of the given inputs; the axis differs from input to input and from subset to subset.
func checkMap(t *check.T) error {
	err := t.EachOptionalPlan(func(c *cases.Case) error {
		n := len(cases.GivenInputs(c))
		return check.ForEach(subsets(n), func(set int) error {
			axes := make([]any, n)
			for place := range axes {
				if set>>place&1 == 1 {
					axes[place] = -((set + place) % 2)
				}
			}
			return expectMapped(t, c, level{3, axes})
		})
	})
	if err != nil {
		return err
	}
	rankZero := cases.All(t.Op, cases.RankZeroPlans(t.Op, cases.SupportedDTypes(t.Op, t.Env.Device)[0]), t.OpSampler())
	return check.ForEach(rankZero, func(c *cases.Case) error {
		return expectMapped(t, c, level{3, slices.Repeat([]any{0}, len(cases.GivenInputs(c)))})
	})
}

// subsets are sets of so many inputs, as bits: all but the empty one, or of many inputs each alone, each left out, and all.
func subsets(n int) []int {
	all := 1<<n - 1
	var out []int
	if n <= mostSubsets {
		for set := 1; set <= all; set++ {
			out = append(out, set)
		}
		return out
	}
	for place := range n {
		out = append(out, 1<<place, all&^(1<<place))
	}
	return append(out, all)
}
