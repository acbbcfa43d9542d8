package cases

import (
	"math"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
)

// Contents says what inputs with a declared range hold.
type Contents int

// The contents: random ones; the lowest value everywhere; the highest; values that rise from the lowest to the highest, with
// equal neighbours, as the limits of ragged rows do that fill all of their memory.
const (
	randomContents Contents = iota
	Lowest
	Highest
	Rising
)

// values are n values of the contents within limits; nil where they are random or there is no such limit.
func (k Contents) values(n int64, limits ndarray.Contents) []float64 {
	low, high := limits.Min, limits.Max
	switch {
	case k == Lowest && low != nil:
		return slices.Repeat([]float64{*low}, int(n))
	case k == Highest && high != nil:
		return slices.Repeat([]float64{*high}, int(n))
	case k == Rising && low != nil && high != nil && n > 0:
		out := make([]float64, n)
		for i := range out {
			// In pairs, so that neighbours are equal; whole numbers, which every dtype with a range has.
			step := math.Floor(float64(i+1)/2) / max(math.Floor(float64(n)/2), 1)
			out[i] = math.Floor(*low + (*high-*low)*step)
		}
		out[n-1] = *high
		return out
	}
	return nil
}

// ContentPlans fill inputs with the lowest and with the highest of their declared values, and with rising ones.
func ContentPlans(d DTypes) []Plan {
	var plans []Plan
	for _, kind := range []struct {
		contents Contents
		name     string
	}{{Lowest, "lowest"}, {Highest, "highest"}, {Rising, "rising"}} {
		p := BasePlan(d)
		p.Name, p.Contents = kind.name, kind.contents
		plans = append(plans, p)
	}
	return plans
}
