package conformance

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// splitDims are the dimensions along which an op promises to be independent, or to sum up.
func splitDims(op *opdef.Op) []string {
	dims := op.ParallelDims()
	for _, d := range op.Sums {
		if !slices.Contains(dims, d) {
			dims = append(dims, d)
		}
	}
	return dims
}

// splitPlan has dimensions worth splitting.
func splitPlan(d dtypes) plan { return plan{name: "split", dtypes: d, batch: []int64{7}} }

// checkSplit cuts the inputs along each parallel dimension: the parts of the result have the bits of the results of the
// parts, so no element depends on its neighbours. What lacks a dimension that is declared a sum is the sum of its parts.
func checkSplit(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{splitPlan(d)} }, func(c *Case) error {
		whole, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		return forEach(splitDims(t.Op), func(dim string) error { return t.split(c, whole, dim) })
	})
}

// split compares the leading and the trailing part of a result with the results of the parts.
func (t *T) split(c *Case, whole *Result, dim string) error {
	size := c.Batch[0]
	if dim != "*" {
		size = c.Sizes[dim]
	}
	if size < 2 {
		return nil
	}
	cut := size / 2
	parts := [][]Output{}
	for _, part := range [][2]int64{{0, cut}, {cut, size}} {
		piece, err := c.part(dim, part[0], part[1])
		if err != nil {
			return err
		}
		call, got, err := t.right(t.Caller, piece)
		if err != nil {
			return err
		}
		for i, w := range whole.present() {
			s := slots(t.Op)[i]
			axis := axisOf(s.Type, dim)
			if axis < 0 || !t.Op.Deterministic {
				continue
			}
			want := section(w.Array, axis, part[0], part[1])
			if text := sameBits(s.Name, got.Outputs[i].Array, want); text != "" {
				t.Fail(call, piece.Name, "%s", text)
			}
		}
		parts = append(parts, got.Outputs)
	}
	t.addUp(c, whole, dim, parts)
	return nil
}

// addUp expects each result that lacks the dimension to be the sum of its parts, within what its bound allows each.
func (t *T) addUp(c *Case, whole *Result, dim string, parts [][]Output) {
	for i, w := range whole.present() {
		s := slots(t.Op)[i]
		if axisOf(s.Type, dim) >= 0 || !ndarray.IsFloat(w.DType) {
			continue
		}
		if !slices.Contains(t.Op.Sums, dim) {
			t.Fail(nil, c.Name, "%s lacks the parallel dimension %s, which is not declared a sum", s.Name, dim)
			continue
		}
		bound := boundOf(c, i)
		total, a, b := w.Floats(), parts[0][i].Floats(), parts[1][i].Floats()
		for k := range total {
			allowed := 0.0
			for _, v := range []float64{total[k], a[k], b[k]} {
				allowed += bound.ULPs*ndarray.Spacing(w.DType, v) + bound.Abs + bound.Rel*math.Abs(v)
			}
			if distance := math.Abs(total[k] - a[k] - b[k]); !(distance <= allowed) {
				t.Fail(newCall(c), c.Name, "%s%s: the parts along %s add up to %v, the whole is %v",
					s.Name, list(w.Index(int64(k))), dim, a[k]+b[k], total[k])
				break
			}
		}
	}
}

// axisOf finds the dimension of a type that is exactly the named one ("*": the first); -1 if there is none. Splitting needs
// one leading dimension.
func axisOf(t opdef.Type, dim string) int {
	return slices.IndexFunc(t.Dims, func(d opdef.Dim) bool { return d.Is(dim) })
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
