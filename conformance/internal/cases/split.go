package cases

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// AxisOf finds the dimension of a type that is exactly the named one (of leading dims the first); -1 if there is none. Splitting needs
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
	if opdef.IsLead(dim) {
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
		if axis := c.AxisAlong(&c.Op.Inputs[i], dim); axis >= 0 {
			out.Inputs[i] = Slice(in, axis, from, to)
		}
	}
	out.Leads = maps.Clone(c.Leads)
	maps.DeleteFunc(out.Leads, func(_ string, lead []int64) bool { return slices.Equal(lead, c.Batch) })
	return &out, nil
}

// AxisAlong is the axis of an argument that is the named dimension; -1 if there is none. Of leading dims, it is the first one.
func (c *Case) AxisAlong(arg *opdef.Arg, dim string) int {
	return c.axis(arg, dim, AxisOf(arg.Type, dim))
}

// axis is that of an argument for a dimension, or for the place where its type has it.
func (c *Case) axis(arg *opdef.Arg, dim string, place int) int {
	switch {
	case opdef.IsLead(dim):
		return c.FirstAxis(arg)
	case place > 0 && arg.Type.Lead() != "":
		return place + len(c.Lead(arg)) - 1
	}
	return place
}

// Scratch are zeroed arrays for the work space of a call.
func (c *Case) Scratch() ([]*ndarray.Array, error) {
	var out []*ndarray.Array
	for i := range c.Op.Scratch {
		s := &c.Op.Scratch[i]
		shape, err := c.ShapeOf(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		out = append(out, c.zeros(c.DType(s.Type), shape))
	}
	return out, nil
}
