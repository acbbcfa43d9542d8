package cases

import (
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// manyRows is more than 16 bits count, and more blocks than a GPU's grid has along y and z. repeatedRows of them differ: a prime
// number, so that a row whose number lost its upper bits shows.
const (
	manyRows     = 1<<16 + 1
	repeatedRows = 61
)

// ManyPlans leave sizes to the search, and then make them 1.
func ManyPlans(op *opdef.Op, d DTypes) []Plan {
	single := map[string]int64{}
	for _, name := range Symbols(op) {
		single[name] = 1
	}
	p := Plan{Name: "many rows", DTypes: d, Batch: []int64{1}, Near: true}
	ones := p
	ones.Sizes = single
	return []Plan{p, ones}
}

// Many is a call with many rows along a parallel dimension, which repeat those of another call with a few; false where there are no
// such sizes, or rows that repeat are no valid input. What a plan describes, fit makes.
func Many(op *opdef.Op, dim string, p Plan, fit func(Plan) (*Case, error)) (many, few *Case, ok bool) {
	for i := range op.Inputs {
		if in := &op.Inputs[i]; in.Sorted && in.Has(dim) {
			return nil, nil, false
		}
	}
	var err error
	for _, p.Largest = range []int64{MaxElements, 16 * MaxElements} {
		hollow := along(p, dim, manyRows)
		hollow.NoData = true
		if many, err = fit(hollow); err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, false
	}
	p.Attrs, p.Sizes = many.Attrs, many.Sizes
	few, err = New(op, settled(op, along(p, dim, repeatedRows)))
	if err != nil || !maps.Equal(withValue(few.Sizes, dim, 0), withValue(many.Sizes, dim, 0)) {
		return nil, nil, false
	}
	return many.repeating(few, dim), few, true
}

// along is a plan with so many rows along a dimension.
func along(p Plan, dim string, n int64) Plan {
	if opdef.IsLead(dim) {
		p.Batch = []int64{n}
		return p
	}
	p.Sizes = withValue(p.Sizes, dim, n)
	return p
}

// repeating is a case without contents that gets those of another, again and again along the parallel dimension in which they
// differ: no row of the results depends on another.
func (c *Case) repeating(few *Case, dim string) *Case {
	out := *c
	out.noData, out.Inputs = false, slices.Clone(few.Inputs)
	for i, in := range few.Inputs {
		if axis := few.AxisAlong(&c.Op.Inputs[i], dim); in != nil && axis >= 0 {
			out.Inputs[i] = ndarray.Repeat(in, axis, c.Rows(dim))
		}
	}
	return &out
}

// Rows is how many the case has along a dimension.
func (c *Case) Rows(dim string) int64 {
	if opdef.IsLead(dim) {
		return c.Batch[0]
	}
	return c.Sizes[dim]
}

// InvariantPlans make a parallel dimension and one of the others long, each of the others in turn. The short plans are for where that
// makes arrays too large: there, the parallel dimension is only longer than a tile.
func InvariantPlans(op *opdef.Op, d DTypes, dim string) (long, short []Plan) {
	parallel := op.ParallelDims()
	plans := func(rows int64) (plans []Plan) {
		base := along(Plan{Name: "invariant", DTypes: d, Batch: []int64{1}, Near: true, Largest: 4 * MaxElements}, dim, rows)
		for _, s := range Symbols(op) {
			if !slices.Contains(parallel, s) {
				p := base
				p.Sizes = withValue(p.Sizes, s, LongSize)
				plans = append(plans, p)
			}
		}
		if len(plans) == 0 {
			return []Plan{base}
		}
		return plans
	}
	return plans(LongSize), plans(129)
}

// Allowed reports whether no condition of the definition excludes the case, nor the positions that integers hold.
func (c *Case) Allowed() bool {
	return !slices.ContainsFunc(slices.Concat(c.Op.Requires, c.Op.Fits()), func(e *expr.Expr) bool { return c.EvalCondition(e) == expr.KnownFalse })
}
