package oracle

import (
	"cmp"
	"math"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Contraction is the number of products that an element of an output sums up: the shortest extent, among the inputs, of
// the dimensions whose symbols the output lacks; 0 where nothing is contracted. scale is the size of such a product.
func Contraction(c *cases.Case, result cases.Slot) (length int64, scale float64) {
	kept := map[string]bool{}
	for _, d := range result.Type.Dims {
		kept["*"] = kept["*"] || d.Leading()
		if d.Expr != nil {
			for _, s := range c.Op.Needs(d.Expr) {
				kept[s] = true
			}
		}
	}
	scale = 1
	for i, in := range c.Op.Inputs {
		if c.Inputs[i] == nil {
			continue
		}
		n, contracted := contractedExtent(c, &in, kept)
		if !contracted {
			continue
		}
		if c.DType(in.Type).Complex() {
			n *= 2 // of products of parts
		}
		size := magnitude(c.Given(i).Floats())
		if c.Ordinary != nil {
			size = max(size, magnitude(c.Unpacked(&c.Op.Inputs[i], c.Ordinary[i]).Floats()))
		}
		scale *= size
		if length == 0 || n < length {
			length = n
		}
	}
	for _, v := range c.Attrs {
		if f, ok := v.(float64); ok {
			scale *= max(1, math.Abs(f))
		}
	}
	return length, scale
}

// contractedExtent is the extent of the dimensions of an input whose symbols the output does not keep.
func contractedExtent(c *cases.Case, in *opdef.Arg, kept map[string]bool) (n int64, contracted bool) {
	n = 1
	for i, d := range in.Type.Dims {
		switch {
		case d.Leading() && !kept["*"]:
			contracted = true
			n *= ndarray.Count(c.Batch)
		case d.Expr != nil && keepsNone(kept, c, c.Op.Needs(d.Expr)):
			contracted = true
			size, _ := d.Expr.Eval(c) // it was evaluated for the input's shape
			n *= size
			if in.Packs != "" && i == len(in.Type.Dims)-1 {
				n *= int64(c.DType(in.Type).Bits / c.Numbers(in).Bits)
			}
		}
	}
	return n, contracted
}

// keepsNone reports whether a dim has sizes of its own and the output has none of them.
func keepsNone(kept map[string]bool, c *cases.Case, names []string) bool {
	any := false
	for _, s := range names {
		if kept[s] {
			return false
		}
		_, isSize := c.Sizes[s]
		any = any || isSize
	}
	return any
}

// magnitude is the root mean square of the finite values, 1 if there are none.
func magnitude(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum += v * v
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return math.Sqrt(sum / float64(n))
}

// Tolerance is the largest allowed distance between a result and the reference: ULPs spacings of the dtype plus Abs plus
// Rel times the reference.
type Tolerance struct{ ULPs, Abs, Rel float64 }

// rounded is by how many spacings a result is off that was rounded to nearest, from a value of bfloat16 or better.
const rounded = 0.5 + 1.0/16

// ToleranceOf derives the bound of the result in a slot: what rounding to nearest loses for floats of 8 bits, one spacing for those
// of 16, and four for float32 and float64, plus rounding errors of a sum where something is contracted. Integers are exact. A
// tolerance in the definition replaces it.
func ToleranceOf(c *cases.Case, at int) Tolerance {
	if t, ok := stated(c, at); ok {
		return t
	}
	result := cases.Slots(c.Op)[at]
	d := c.Numbers(result.Arg)
	if d.ULP == 0 {
		return Tolerance{}
	}
	b := Tolerance{ULPs: 4}
	switch {
	case d.Bits < 8: // where an ulp may be half of a number: the nearest one, of what float32 makes of the exact value
		b = Tolerance{ULPs: 0.5, Rel: 4 * dtype.Must("f32").ULP}
	case d.Bits == 8:
		b.ULPs = rounded
	case d.Bits == 16:
		b.ULPs = 1
	}
	if length, scale := Contraction(c, result); length > 0 {
		b.Abs = unitError(d) * math.Sqrt(float64(length)) * scale
	}
	return b
}

// stated is the tolerance that the definition gives a result.
func stated(c *cases.Case, at int) (Tolerance, bool) {
	result := cases.Slots(c.Op)[at]
	t, ok := c.Op.Tolerance[cmp.Or(result.Packs, c.DType(result.Type).Short)]
	return Tolerance{Abs: t.ATol, Rel: t.RTol}, ok
}

// ForScaled is the bound of a result where the suite made the inputs much larger or smaller than usual. A derived tolerance grows with
// the inputs. The absolute part of a stated one does not, so that what the reference itself loses in float32 counts.
func ForScaled(c *cases.Case, at int, want, narrow Expected) Tolerance {
	b, ok := stated(c, at)
	if !ok {
		return ToleranceOf(c, at)
	}
	return Widened(b, c.Numbers(cases.Slots(c.Op)[at].Arg), want, narrow.finiteOr(want))
}

// finiteOr is e with what another has where e overflows, which is no matter of rounding.
func (e Expected) finiteOr(other Expected) Expected {
	e.Values = slices.Clone(e.Values)
	for i, v := range e.Values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			e.Values[i] = other.Values[i]
		}
	}
	return e
}

// ForLong derives the bound of a result along a dimension of n elements: that of shorter ones, and several times what is usually
// lost where as many numbers are added in float32 one by one.
func ForLong(c *cases.Case, at int, n int64) Tolerance {
	b, result := ToleranceOf(c, at), cases.Slots(c.Op)[at]
	if b == (Tolerance{}) {
		return b
	}
	_, scale := Contraction(c, result)
	lost := 4 * float64(n) / (1 << 24)
	return Tolerance{ULPs: b.ULPs, Abs: b.Abs + lost*scale, Rel: b.Rel + lost}
}

// How many times a bound may be widened, at least and at most: what is further off than that is no matter of rounding.
const (
	leastWidened = 4
	mostWidened  = 64
)

// Widened is the bound of a result for contents in which rounding weighs more than it usually does: 16 times what the reference loses
// in float32. It may lose little by chance, so that there is a least.
func Widened(b Tolerance, d dtype.DType, want, narrow Expected) Tolerance {
	share := 0.0
	for i := range want.Values {
		share = max(share, judge(d, narrow.number(i), want.number(i), want.BoundAt(i, d, b)).Share)
	}
	by := min(max(leastWidened, 16*share), mostWidened)
	return Tolerance{ULPs: by * b.ULPs, Abs: by * b.Abs, Rel: by * b.Rel}
}

// unitError is the error of one product of a sum, with room for the order of the sum.
func unitError(d dtype.DType) float64 {
	if d.Bits == 64 {
		return 1e-14
	}
	return 1e-5
}
