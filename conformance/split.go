package conformance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// axisOf finds the dimension of a type that is exactly the named one ("*": the first); -1 if there is none. Splitting needs
// one leading dimension.
func axisOf(t opdef.Type, dim string) int {
	return slices.IndexFunc(t.Dims, func(d opdef.Dim) bool {
		if d.Star {
			return dim == "*"
		}
		return d.Expr.Op == opdef.OpSymbol && d.Expr.Name == dim
	})
}

// section is the part of an array between two indices of an axis.
func section(a *ndarray.Array, axis int, from, to int64) *ndarray.Array {
	shape := slices.Clone(a.Shape)
	shape[axis] = to - from
	view := &ndarray.Array{
		DType: a.DType, Shape: shape, Strides: a.Strides, Offset: a.Offset + from*a.Strides[axis], Data: a.Data,
	}
	return view.Dense()
}

// part is the call on the part of every input that has the dimension.
func (c *Case) part(dim string, from, to int64) (*Case, error) {
	out := *c
	out.Name = fmt.Sprintf("%s, %s from %d to %d", c.Name, dim, from, to)
	if dim == "*" {
		out.Batch = []int64{to - from}
	} else {
		out.Sizes = maps.Clone(c.Sizes)
		out.Sizes[dim] = to - from
	}
	out.Inputs = slices.Clone(c.Inputs)
	for i, in := range c.Inputs {
		if in == nil {
			continue
		}
		if axis := axisOf(c.Op.Inputs[i].Type, dim); axis >= 0 {
			out.Inputs[i] = section(in, axis, from, to)
		}
	}
	return &out, nil
}
