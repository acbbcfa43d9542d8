package cases

import (
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// chunkedSizes are the sizes that all symbols of a large call have: the first with which its arguments are not too large.
var chunkedSizes = []int64{257, 129, 96, 65, 33, 16, 8}

// chunkedElements are the most that an argument of a large call has: several chunks of work for kernels that cut theirs into pieces of
// some 10 microseconds.
const chunkedElements = 1 << 18

// ChunkedPlans are calls with so many elements that kernels compute in several chunks: one with many leading
// dims or rows of moderate length, and one in which all named dims are as long as each other. A definition whose conditions
// exclude both has none.
func ChunkedPlans(op *opdef.Op, d DTypes) []Plan {
	var plans []Plan
	if op.HasBatch() {
		for _, size := range []int64{129, 64, 0} { // 0: as the search finds them
			if p, ok := withLargestBatch(op, chunkedPlan(op, d, size)); ok {
				plans = append(plans, p)
				break
			}
		}
	}
	if len(Symbols(op)) == 0 {
		return plans
	}
	for _, size := range chunkedSizes {
		p := chunkedPlan(op, d, size)
		if op.HasBatch() {
			p.Batch = []int64{1}
		}
		if hasSizes(op, p) {
			plans = append(plans, p)
			break
		}
	}
	return append(plans, forConditions(op, plans)...)
}

// forConditions are the plans again, with the sizes open on which conditions of kernels depend: those are found for each kernel.
func forConditions(op *opdef.Op, plans []Plan) []Plan {
	var out []Plan
	for _, p := range plans {
		open := p
		open.Sizes = maps.Clone(p.Sizes)
		maps.DeleteFunc(open.Sizes, func(s string, _ int64) bool {
			return slices.ContainsFunc(op.Kernels, func(k opdef.Kernel) bool {
				return k.When != nil && slices.Contains(op.Needs(k.When), s)
			})
		})
		if len(open.Sizes) < len(p.Sizes) {
			out = append(out, open)
		}
	}
	return out
}

// chunkedPlan has one size for all symbols for which the definition prefers none; zero leaves them to the search. The largest
// that it prefers may be as large as samples are.
func chunkedPlan(op *opdef.Op, d DTypes, size int64) Plan {
	p := Plan{Name: "large", DTypes: d, Largest: chunkedElements, Sizes: map[string]int64{}}
	for _, s := range Symbols(op) {
		if preferred := SampleSizes(op, s); preferred != nil {
			p.Sizes[s], p.Largest = preferred[len(preferred)-1], MaxElements
		} else if size > 0 {
			p.Sizes[s] = size
		}
	}
	return p
}

// withLargestBatch gives a plan the longest leading dim for which its arguments are not too large.
func withLargestBatch(op *opdef.Op, p Plan) (Plan, bool) {
	for n := int64(chunkedElements); n > 1; n /= 2 {
		if p.Batch = []int64{n}; hasSizes(op, p) {
			return p, true
		}
	}
	return p, false
}

// hasSizes reports whether there are sizes for a plan, without making contents for them.
func hasSizes(op *opdef.Op, p Plan) bool {
	_, err := sized(op, p)
	return err == nil
}
