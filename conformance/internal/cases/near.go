package cases

import (
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// nearTries is how many sizes near a wanted one are searched for: each costs a walk through those of the other symbols.
const nearTries = 3

// settled is the plan with sizes that the definition's conditions allow: where they exclude a wanted size, that of the same
// symbol which is the next larger one, or else the next smaller one. A plan for which there is none is left as it is.
func settled(op *opdef.Op, p Plan) Plan {
	if hasSizes(op, p) {
		return p
	}
	q := p
	q.Sizes = map[string]int64{}
	for _, name := range Symbols(op) {
		if n, ok := p.Sizes[name]; ok {
			settle(op, q, name, n)
		}
	}
	if hasSizes(op, q) {
		return q
	}
	return p
}

// settle gives a symbol of a plan the wanted size, or one near it if conditions exclude that beside the sizes that the plan has.
func settle(op *opdef.Op, p Plan, name string, wanted int64) {
	s := search{op: op, dtypes: p.DTypes, attrs: p.Attrs, when: p.When, sizes: p.Sizes}
	if p.Sizes[name] = wanted; s.possible() || wanted > MaxElements {
		return
	}
	tries := 0
	for _, n := range near(wanted) {
		if p.Sizes[name] = n; !s.possible() {
			continue
		}
		if hasSizes(op, p) {
			return
		}
		if tries++; tries == nearTries {
			break
		}
	}
	p.Sizes[name] = wanted
}

// near are a size, then the larger ones up to the next multiples of what tiles are, then the smaller ones.
func near(wanted int64) (sizes []int64) {
	for n := wanted; n <= wanted+256; n++ {
		sizes = append(sizes, n)
	}
	for n := wanted - 1; n > 0; n-- {
		sizes = append(sizes, n)
	}
	return sizes
}

// settledPlans are the plans with sizes that conditions allow, each once.
func settledPlans(op *opdef.Op, plans []Plan) []Plan {
	var out []Plan
	for _, p := range plans {
		q := settled(op, p)
		same := func(have Plan) bool { return maps.Equal(have.Sizes, q.Sizes) && slices.Equal(have.Batch, q.Batch) }
		if !slices.ContainsFunc(out, same) {
			out = append(out, q)
		}
	}
	return out
}

// boundSizes are the numbers with which conditions compare a symbol: the last ones that are allowed are next to them.
func boundSizes(op *opdef.Op, symbol string) (sizes []int64) {
	for _, e := range op.Requires {
		e.Walk(func(n *expr.Expr) {
			if !slices.Contains([]expr.Op{expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe}, n.Op) {
				return
			}
			for i, side := range n.Args {
				if side.Op == expr.OpConst && n.Args[1-i].Op == expr.OpSymbol && n.Args[1-i].Name == symbol {
					sizes = append(sizes, side.Value)
				}
			}
		})
	}
	return sizes
}

// spokenSizes are the numbers in the conditions on a symbol, those beside them and twice as large, and the standard sizes, as far
// as they are not among the base sizes: what "N % 128 == 0" and "N >= 64" allow is not.
func spokenSizes(op *opdef.Op, symbol string) (sizes []int64) {
	for _, e := range op.Requires {
		if !slices.Contains(op.Needs(e), symbol) {
			continue
		}
		for _, n := range NumbersAround(e, 4) {
			sizes = append(sizes, n, 2*n)
		}
	}
	if len(sizes) > 0 {
		sizes = append(sizes, standardSizes...)
	}
	return slices.DeleteFunc(sizes, func(n int64) bool { return slices.Contains(baseSizes, n) })
}
