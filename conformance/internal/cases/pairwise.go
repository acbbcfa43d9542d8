package cases

import (
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// factor is what calls differ in: an attr, or whether an optional input is given.
type factor struct {
	name   string
	input  bool
	values []any
}

// mostValues is how many values of an attr are combined with those of others.
const mostValues = 5

func factors(op *opdef.Op) (list []factor) {
	for i := range op.Attrs {
		if a := &op.Attrs[i]; a.Binds == "" {
			values := AttrValues(op, a)
			list = append(list, factor{name: a.Name, values: values[:min(len(values), mostValues)]})
		}
	}
	for _, in := range op.Inputs {
		if in.Optional && givesWithout(op, in.Name) {
			list = append(list, factor{name: in.Name, input: true, values: []any{true, false}})
		}
	}
	return list
}

// pair are two values, by their places, of two factors, the first of which comes before the second.
type pair struct{ first, value, second, other int }

// PairPlans are a few calls that together try each pair of values of two attrs, and each value with and without each optional
// input.
func PairPlans(op *opdef.Op, d DTypes) (plans []Plan) {
	list := factors(op)
	open := map[pair]bool{}
	for i := range list {
		for j := range list[:i] {
			for v := range list[j].values {
				for w := range list[i].values {
					open[pair{j, v, i, w}] = true
				}
			}
		}
	}
	for len(open) > 0 {
		row := bestRow(list, open)
		p := BasePlan(d)
		p.Attrs = map[string]any{}
		for i, v := range row {
			switch f := list[i]; {
			case !f.input:
				p.Attrs[f.name] = f.values[v]
			case f.values[v] == false:
				p.Without = append(p.Without, f.name)
			}
		}
		plans = append(plans, p)
	}
	return plans
}

// bestRow gives each factor a value: two of them those of a pair that is still open, the others what closes most pairs.
func bestRow(list []factor, open map[pair]bool) []int {
	row := slices.Repeat([]int{-1}, len(list))
	start := slices.MinFunc(slices.Collect(maps.Keys(open)), func(a, b pair) int {
		return slices.Compare([]int{a.first, a.second, a.value, a.other}, []int{b.first, b.second, b.value, b.other})
	})
	row[start.first], row[start.second] = start.value, start.other
	for i := range row {
		if row[i] >= 0 {
			continue
		}
		best, most := 0, -1
		for v := range list[i].values {
			row[i] = v
			if n := len(closed(row, open)); n > most {
				best, most = v, n
			}
		}
		row[i] = best
	}
	for _, p := range closed(row, open) {
		delete(open, p)
	}
	return row
}

// closed are the open pairs that a row has.
func closed(row []int, open map[pair]bool) (pairs []pair) {
	for i, w := range row {
		for j, v := range row[:i] {
			if p := (pair{j, v, i, w}); open[p] {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}
