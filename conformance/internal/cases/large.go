package cases

import (
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Magnitudes say how many bits of their dtype large integers use, the most first: the whole range, and then less and less, as
// results and sums of them may need more bits than there are.
var Magnitudes = []func(bits int) int{
	func(bits int) int { return bits },
	func(bits int) int { return bits - 1 },
	func(bits int) int { return bits - 2 },
	func(bits int) int { return bits * 3 / 4 },
	func(bits int) int { return bits * 5 / 8 },
	func(bits int) int { return bits / 2 },
	func(bits int) int { return bits/2 - 1 },
	func(bits int) int { return bits * 3 / 8 },
	func(bits int) int { return bits / 4 },
}

// MayHoldAny reports whether an input is of a kind of dtype for some choice of dtypes, and has neither a lowest nor a highest.
func MayHoldAny(op *opdef.Op, in *opdef.Arg, kind func(dtype.DType) bool) bool {
	if in.Min != nil || in.Max != nil {
		return false
	}
	return slices.ContainsFunc(DeclaredDTypes(op), func(d DTypes) bool {
		return kind((&Case{Op: op, DTypes: d}).DType(in.Type))
	})
}

// FreeIntegers are the inputs that hold integers of which neither the definition nor the author's samples say more: what has a
// range is often an index.
func (c *Case) FreeIntegers() []int {
	return slices.DeleteFunc(GivenInputs(c), func(i int) bool {
		in := &c.Op.Inputs[i]
		return in.Min != nil || in.Max != nil || c.Sampled[in.Name] || !ndarray.IsInteger(c.Inputs[i].DType)
	})
}

// HasFloats reports whether the call computes with numbers of floating point.
func (c *Case) HasFloats() bool {
	float := func(a opdef.Arg) bool { return ndarray.IsFloat(c.Numbers(&a)) }
	return slices.ContainsFunc(c.Op.Inputs, float) || slices.ContainsFunc(c.Op.Outputs, float) ||
		slices.ContainsFunc(c.Op.Attrs, func(a opdef.Attr) bool { return a.Type == "float" })
}

// Large says what the free integers of a case hold: numbers of all sizes that use so many bits of their dtypes, both ends among
// them, or the highest one everywhere. If Only is an input, the others have one small number, so that results have room for all
// of its range.
type Large struct {
	Bits    func(bits int) int
	Highest bool
	Only    int
	Others  int64
}

// Everywhere is the Only of large integers in all inputs.
const Everywhere = -1

// WithLargeIntegers is a copy of a case with other free integers. Where the call has numbers of floating point too, float32 has
// all of the integers.
func (c *Case) WithLargeIntegers(l Large) *Case {
	out, exact := *c, 64
	if c.HasFloats() {
		exact = 24
	}
	out.Inputs = slices.Clone(c.Inputs)
	for _, i := range c.FreeIntegers() {
		in, have := &c.Op.Inputs[i], c.Inputs[i]
		if l.Only != Everywhere && l.Only != i {
			out.Inputs[i] = ndarray.FromFloats(have.DType, have.Shape, slices.Repeat([]float64{float64(l.Others)}, int(have.Len())))
			continue
		}
		rng := ndarray.Rand("large integers/" + c.Op.Name + "/" + in.Name + "/" + c.Name)
		use := ndarray.Bits{Used: max(l.Bits(have.DType.Bits), 2), Significant: exact, Highest: l.Highest, Sorted: in.Sorted}
		out.Inputs[i] = ndarray.LargeIntegers(rng, have.DType, have.Shape, use)
	}
	return &out
}

// longSize is the extent along which long plans sum up: so many of the largest bytes need more than 16 bits.
const longSize = 521

// LongPlans make each symbol, and then the leading dims, so large that a sum along them shows the width of its accumulator.
func LongPlans(op *opdef.Op, d DTypes) []Plan {
	var plans []Plan
	for _, s := range Symbols(op) {
		plans = append(plans, Plan{Name: "long", DTypes: d, Batch: []int64{2}, Sizes: map[string]int64{s: longSize}})
	}
	if op.HasBatch() {
		plans = append(plans, Plan{Name: "long", DTypes: d, Batch: []int64{longSize}})
	}
	return settledPlans(op, plans)
}
