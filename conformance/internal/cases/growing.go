package cases

import (
	"slices"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// largestGrowing is how many elements an argument of a growing call has at most.
const largestGrowing = 1 << 22

// Growing makes one symbol, the leading dims, or an attr that is a size as long as it is told, and leaves the others small. Dim is the
// symbol, or the name of the leading dims; "" for an attr.
type Growing struct {
	Dim  string
	Plan func(n int64) Plan
}

// GrowingPlans are those of all sizes of an op.
func GrowingPlans(op *opdef.Op, d DTypes) (plans []Growing) {
	base := Plan{Name: "growing", DTypes: d, Batch: []int64{2}, Largest: largestGrowing}
	for _, s := range Symbols(op) {
		plans = append(plans, Growing{s, func(n int64) Plan {
			p := base
			p.Near = true
			return along(p, s, n)
		}})
	}
	if lead := op.Lead(); lead != "" {
		plans = append(plans, Growing{lead, func(n int64) Plan { return along(base, lead, n) }})
	}
	for _, a := range sizeAttrs(op) {
		plans = append(plans, Growing{"", func(n int64) Plan {
			if most, ok := a.Max.(int64); ok {
				n = min(n, most)
			}
			p := base
			p.Attrs = map[string]any{a.Name: n}
			return p
		}})
	}
	return plans
}

// LargeScratch reports whether the work space of a growing call is far larger than its arguments may be.
func (c *Case) LargeScratch() bool {
	for i := range c.Op.Scratch {
		if shape, err := c.ShapeOf(&c.Op.Scratch[i]); err != nil || Elements(shape) > 16*largestGrowing {
			return true
		}
	}
	return false
}

// OnlyLast is a call whose floats are zeros but for the last ones along a dimension: a sum over it loses nothing then, so that a kernel
// which leaves out its end is far off. It is nil where nothing sums up along the dimension, or no input may be zeros.
func (c *Case) OnlyLast(dim string) *Case {
	if slices.Contains(c.Op.ParallelDims(), dim) && !slices.Contains(c.Op.Sums, dim) {
		return nil
	}
	out := c.With(0, c.Inputs[0], "zeros before the last of "+dim)
	changed := false
	for i := range c.Op.Inputs {
		if axis := c.axisWith(&c.Op.Inputs[i], dim); axis >= 0 && c.takesZeros(i) {
			out.Inputs[i], changed = onlyLast(c.Inputs[i], axis), true
		}
	}
	if !changed {
		return nil
	}
	return out
}

// takesZeros reports whether an input is one of floats with any contents.
func (c *Case) takesZeros(i int) bool {
	in, x := &c.Op.Inputs[i], c.Inputs[i]
	return x != nil && ndarray.IsFloat(x.DType.Part()) && in.Packs == "" && in.Min == nil && in.Max == nil && !c.Sampled[in.Name] &&
		ndarray.New(x.DType, []int64{1}).Floats()[0] == 0
}

// axisWith is the axis of an argument whose extent depends on a dimension; -1 if there is none.
func (c *Case) axisWith(arg *opdef.Arg, dim string) int {
	return c.axis(arg, dim, slices.IndexFunc(arg.Type.Dims, func(d opdef.Dim) bool {
		return d.Expr != nil && slices.Contains(c.Op.Needs(d.Expr), dim)
	}))
}

// onlyLast is an array of zeros but for the last indices of an axis.
func onlyLast(a *ndarray.Array, axis int) *ndarray.Array {
	out := ndarray.New(a.DType, a.Shape)
	size, row := ndarray.ItemSize(a.DType)*ndarray.Count(a.Shape[axis+1:]), a.Shape[axis]
	for at, from := int64(0), a.Bytes(); at < int64(len(from)); at += size * row {
		copy(out.Data[at+size*(row-1):], from[at+size*(row-1):at+size*row])
	}
	return out
}
