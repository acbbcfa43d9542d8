package oracle

import (
	"context"
	"math"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// doubt is the share of what is allowed by which the reference itself may be off.
const doubt = 1.0 / 8

// Certain are the reference's results for a case with floats that are hard to compute with, nil where they say nothing about a
// kernel. Elements are left open unless they are ordinary numbers of their dtype, and more than float64 gives the same.
func Certain(ctx context.Context, o Oracle, c *cases.Case) ([]Expected, error) {
	want, err := o.Reference(ctx, c, "float64")
	if err != nil {
		return nil, err
	}
	wide, err := o.Reference(ctx, c, "longdouble")
	if err != nil {
		return nil, err
	}
	out, certain := slices.Clone(want), false
	for i, s := range cases.Slots(c.Op) {
		if !c.Has(s) {
			continue
		}
		out[i].Open = slices.Repeat([]bool{true}, len(want[i].Values))
		if d, bound := c.Numbers(s.Arg), ToleranceOf(c, i); hasDigits(d, bound) {
			for k := range out[i].Open {
				out[i].Open[k] = doubtful(d, want[i].number(k), wide[i].number(k), want[i].BoundAt(k, d, bound))
				certain = certain || !out[i].Open[k]
			}
		}
	}
	if !certain {
		return nil, nil
	}
	return out, nil
}

// NeedsDigits reports whether some result of a case has to have all digits of the reference.
func NeedsDigits(c *cases.Case) bool {
	for i, s := range cases.Slots(c.Op) {
		if c.Has(s) && hasDigits(c.Numbers(s.Arg), ToleranceOf(c, i)) {
			return true
		}
	}
	return false
}

// hasDigits holds for floats that are narrower than the reference's, if all of their digits count. Sums of products may be off
// by a share of what is summed up, which says much about random numbers only, and so may be what an author declares.
func hasDigits(d dtype.DType, bound Tolerance) bool {
	return ndarray.IsFloat(d) && d.Bits <= 32 && bound.Abs == 0 && bound.Rel == 0
}

// doubtful holds for what is no ordinary number, and for what float64 has too few digits for.
func doubtful(d dtype.DType, want, wide number, bound Tolerance) bool {
	ordinary := math.Abs(want.value) <= ndarray.Max(d)
	return !ordinary || judge(d, wide, want, bound).Share > doubt
}
