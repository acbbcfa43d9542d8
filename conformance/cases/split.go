package cases

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// SplitDims are the dimensions along which an op promises to be independent, or to sum up.
func SplitDims(op *opdef.Op) []string {
	dims := op.ParallelDims()
	for _, d := range op.Sums {
		if !slices.Contains(dims, d) {
			dims = append(dims, d)
		}
	}
	return dims
}

// AxisOf finds the dimension of a type that is exactly the named one ("*": the first); -1 if there is none. Splitting needs
// one leading dimension.
func AxisOf(t opdef.Type, dim string) int {
	return slices.IndexFunc(t.Dims, func(d opdef.Dim) bool { return d.Is(dim) })
}

// Slice is the part of an array between two indices of an axis.
func Slice(a *ndarray.Array, axis int, from, to int64) *ndarray.Array {
	shape := slices.Clone(a.Shape)
	shape[axis] = to - from
	view := &ndarray.Array{
		DType: a.DType, Shape: shape, Strides: a.Strides, Offset: a.Offset + from*a.Strides[axis], Data: a.Data,
	}
	return view.Dense()
}

// Part is the call on the part of every input that has the dimension.
func (c *Case) Part(dim string, from, to int64) (*Case, error) {
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
		if axis := AxisOf(c.Op.Inputs[i].Type, dim); axis >= 0 {
			out.Inputs[i] = Slice(in, axis, from, to)
		}
	}
	return &out, nil
}

// Scratch are zeroed arrays for the work space of a call.
func (c *Case) Scratch() ([]*ndarray.Array, error) {
	var out []*ndarray.Array
	for i := range c.Op.Scratch {
		s := &c.Op.Scratch[i]
		shape, err := c.Shape(s.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		out = append(out, c.zeros(c.DType(s.Type), shape))
	}
	return out, nil
}
