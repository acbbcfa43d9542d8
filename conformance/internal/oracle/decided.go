package oracle

import (
	"cmp"
	"context"
	"math"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// The precisions in which the free integers of a case are computed, beside those of the inputs themselves. Without bounds,
// nothing overflows; not every function of NumPy knows such integers, so that there are others.
var withoutOverflow = []string{"exact", "real", "int64"}

// Decided are the reference's results for a case with large integers, nil where they say nothing about a kernel: its own
// integers overflow on the way, or a result has no representation. Elements that depend on how numbers of floating point are
// rounded are left open.
func Decided(ctx context.Context, o Oracle, c *cases.Case) ([]Expected, error) {
	want, err := o.Reference(ctx, c, "float64")
	if err != nil {
		return nil, err
	}
	wide, err := firstOf(ctx, o, c, withoutOverflow)
	if err != nil {
		return nil, err
	}
	for i, s := range cases.Slots(c.Op) {
		if c.Has(s) && !sameNumbers(want[i], wide[i], c.Numbers(s.Arg)) {
			return nil, nil
		}
	}
	if !c.HasFloats() {
		return want, nil
	}
	narrow, err := firstOf(ctx, o, c, []string{"real32", "float32"})
	if err != nil {
		return nil, err
	}
	out, decided := make([]Expected, len(want)), false
	for i, s := range cases.Slots(c.Op) {
		out[i] = want[i]
		if c.Has(s) {
			out[i].Open = openElements(want[i], narrow[i], c.Numbers(s.Arg), ToleranceOf(c, i))
			for _, open := range out[i].Open {
				decided = decided || !open
			}
		}
	}
	if !decided {
		return nil, nil
	}
	return out, nil
}

// freeIntegers names the inputs whose integers other precisions widen: what has a range may be an index, which has to stay one.
func freeIntegers(c *cases.Case) []string {
	names := []string{}
	for _, i := range c.FreeIntegers() {
		names = append(names, cmp.Or(c.Op.Inputs[i].In, c.Op.Inputs[i].Name))
	}
	return names
}

// firstOf evaluates in the first of the precisions in which that is possible.
func firstOf(ctx context.Context, o Oracle, c *cases.Case, precisions []string) (out []Expected, err error) {
	for _, precision := range precisions {
		if out, err = o.Reference(ctx, c, precision); err == nil {
			return out, nil
		}
	}
	return nil, err
}

// sameNumbers reports whether a reference gives the same without overflow. Integers of a result must be exact, and the dtype
// must have them.
func sameNumbers(want, wide Expected, d dtype.DType) bool {
	for i, v := range want.Values {
		a, b := want.number(i), wide.number(i)
		switch {
		case !ndarray.IsInteger(d):
			if v != b.value && !(math.Abs(v-b.value) <= independentOfRounding*max(1, math.Abs(v))) && !(math.IsNaN(v) && math.IsNaN(b.value)) {
				return false
			}
		case !a.representable(d) || !b.representable(d) || a.inexact():
			return false
		case b.inexact():
			if !(math.Abs(v-b.value) <= independentOfRounding*math.Abs(v)) {
				return false
			}
		case a.integer().Cmp(b.integer()) != 0:
			return false
		}
	}
	return true
}

// inexact reports whether float64 may have lost digits of an integer.
func (n number) inexact() bool { return n.exact == nil && math.Abs(n.value) > ndarray.FloatExact }

// OpenBut leaves all elements open but those that another answer has, too: of integers that follow from floats, how these are rounded
// decides some.
func (e Expected) OpenBut(narrow Expected) Expected {
	e.Open = make([]bool, len(e.Values))
	for i, v := range e.Values {
		e.Open[i] = v != narrow.Values[i]
	}
	return e
}

// openElements are those about which float32 does not say what float64 says: a kernel may compute in it.
func openElements(want, narrow Expected, d dtype.DType, bound Tolerance) []bool {
	open := make([]bool, len(want.Values))
	for i := range open {
		open[i] = judge(d, narrow.number(i), want.number(i), want.BoundAt(i, d, bound)).Excess > 0
	}
	return open
}
