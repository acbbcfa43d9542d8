package conformance

import (
	"math"
	"slices"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// specials are the numbers that kernels get wrong.
func specials(d dtype.DType) []float64 {
	tiny := ndarray.Tiny(d)
	return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), tiny, -100 * tiny, ndarray.Max(d)}
}

// checkSpecials puts each special number into one element of each float input in turn.
func checkSpecials(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		for i, in := range c.Inputs {
			if in == nil || !ndarray.IsFloat(in.DType) || in.Len() == 0 || t.Op.Inputs[i].Min != nil {
				continue
			}
			for _, v := range specials(in.DType) {
				changed := in.Dense()
				ndarray.PutFloat(in.DType, changed.Data, in.Len()/2, v)
				spoilt := c.with(i, changed, t.Op.Inputs[i].Name+" has "+formatFloat(v))
				if err := proceed(t.extreme(spoilt)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// checkMagnitudes uses inputs near the largest numbers whose squares float32 still holds, and denormal ones.
func checkMagnitudes(t *T) error {
	return t.eachCase(func(d dtypes) []plan {
		p := base(d)
		p.name, p.scale = "large", 1e17
		for _, f := range floats(t.Op, d) {
			p.scale = min(p.scale, ndarray.Max(f)/6) // six standard deviations fit
		}
		return []plan{p, denormalPlan(t.Op, d)}
	}, t.extreme)
}

// denormalPlan has inputs below the smallest normal number of every dtype of the op.
func denormalPlan(op *opdef.Op, d dtypes) plan {
	p := base(d)
	p.name, p.scale = "denormal", 1
	for _, f := range floats(op, d) {
		p.scale = min(p.scale, 40*ndarray.Tiny(f))
	}
	return p
}

// floats are the floating-point dtypes of an op's arguments.
func floats(op *opdef.Op, d dtypes) []dtype.DType {
	c := &Case{Op: op, DTypes: d}
	var out []dtype.DType
	for _, a := range slices.Concat(op.Inputs, op.Outputs) {
		if f := c.DType(a.Type); ndarray.IsFloat(f) {
			out = append(out, f)
		}
	}
	return out
}

// extreme compares as valueOf does, but where the reference itself overflows in float32, the precision in which kernels
// accumulate, that answer is right too.
func (t *T) extreme(c *Case) error {
	call, result, err := t.right(t.Caller, c)
	if err != nil || !t.shaped(call, c.Name, c, result) {
		return err
	}
	want, err := t.env.oracle.Reference(t.ctx, c, "float64")
	if err != nil {
		return err
	}
	narrow, err := t.env.oracle.Reference(t.ctx, c, "float32")
	if err != nil {
		return err
	}
	for i, o := range result.present() {
		t.compared(call, c, i, o.Array, want[i], narrow[i].Values)
	}
	return nil
}
