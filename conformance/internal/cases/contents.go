package cases

import (
	"math"
	"math/big"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Contents says what inputs with a declared range hold.
type Contents int

// The contents: random ones; the lowest value everywhere; the highest; values that rise from the lowest to the highest, with
// equal neighbours, as the limits of ragged rows do that fill all of their memory; and values that rise between those a quarter from
// both ends.
const (
	randomContents Contents = iota
	Lowest
	Highest
	Rising
	Inner
)

// fill is an array of the contents within limits; nil where they are random or there is no such limit.
func (k Contents) fill(d dtype.DType, shape []int64, limits ndarray.Contents) *ndarray.Array {
	if ndarray.IsFloat(d) {
		low, high := limits.FloatEnds()
		if values := k.floats(ndarray.Count(shape), limits, low, high); values != nil {
			return ndarray.FromFloats(d, shape, values)
		}
		return nil
	}
	low, high := limits.IntEnds(d)
	if values := k.integers(ndarray.Count(shape), low, high); values != nil {
		return ndarray.FromInts(d, shape, values)
	}
	return nil
}

func (k Contents) floats(n int64, limits ndarray.Contents, low, high float64) []float64 {
	switch {
	case k == Lowest && limits.Min != nil:
		return slices.Repeat([]float64{low}, int(n))
	case k == Highest && limits.Max != nil:
		return slices.Repeat([]float64{high}, int(n))
	case (k == Rising || k == Inner) && limits.Min != nil && limits.Max != nil && n > 0:
		if k == Inner {
			low, high = low+(high-low)/4, high-(high-low)/4
		}
		out := make([]float64, n)
		for i := range out {
			part, of := k.rise(int64(i), n)
			out[i] = max(low, math.Floor(low+(high-low)*float64(part)/float64(of)))
		}
		out[n-1] = high
		return out
	}
	return nil
}

func (k Contents) integers(n int64, low, high *big.Int) []*big.Int {
	switch {
	case k == Lowest && low != nil:
		return slices.Repeat([]*big.Int{low}, int(n))
	case k == Highest && high != nil:
		return slices.Repeat([]*big.Int{high}, int(n))
	case (k == Rising || k == Inner) && low != nil && high != nil && n > 0:
		if k == Inner {
			low, high = inner(low, high)
		}
		out, span := make([]*big.Int, n), new(big.Int).Sub(high, low)
		for i := range out {
			part, of := k.rise(int64(i), n)
			step := new(big.Int).Mul(span, big.NewInt(part))
			out[i] = step.Add(step.Div(step, big.NewInt(of)), low)
		}
		out[n-1] = high
		return out
	}
	return nil
}

// inner are the ends of a range without a quarter of it at both ends, or without one number if that is more.
func inner(low, high *big.Int) (from, to *big.Int) {
	quarter := new(big.Int).Sub(high, low)
	quarter.Div(quarter.Add(quarter, big.NewInt(3)), big.NewInt(4))
	from, to = new(big.Int).Add(low, quarter), new(big.Int).Sub(high, quarter)
	if from.Cmp(to) > 0 {
		return low, high
	}
	return from, to
}

// rise is how far element i of n has come, as a fraction: in pairs, so that neighbours are equal, or one by one.
func (k Contents) rise(i, n int64) (part, of int64) {
	if k == Inner {
		return i, max(n-1, 1)
	}
	return (i + 1) / 2, max(n/2, 1)
}

// ContentPlans fill inputs with the lowest and with the highest of their declared values, and with rising ones, of which
// one kind leaves room at both ends.
func ContentPlans(d DTypes) []Plan {
	var plans []Plan
	for _, kind := range []struct {
		contents Contents
		name     string
	}{{Lowest, "lowest"}, {Highest, "highest"}, {Rising, "rising"}, {Inner, "inner"}} {
		p := BasePlan(d)
		p.Name, p.Contents = kind.name, kind.contents
		plans = append(plans, p)
	}
	return plans
}

// InnerPlans are calls that leave parts of their inputs unread: their contents are random, or leave room at both ends of their range.
// Where a size in a range is 1, less is chosen from the same memory.
func InnerPlans(op *opdef.Op, d DTypes) []Plan {
	contents := ContentPlans(d)
	inner := contents[len(contents)-1]
	symbols, plans := Symbols(op), []Plan{}
	for _, in := range op.Inputs {
		if in.Max == nil {
			continue
		}
		for _, s := range op.Depends(in.Max) {
			if slices.Contains(symbols, s) {
				p := inner
				p.Sizes = map[string]int64{s: 1}
				plans = append(plans, p)
			}
		}
	}
	return append([]Plan{BasePlan(d), inner}, settledPlans(op, plans)...)
}
