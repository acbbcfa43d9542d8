package conformance

import (
	"math"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
)

// contents says what inputs with a declared range hold.
type contents int

// The contents: random ones; the lowest value everywhere; the highest; values that rise from the lowest to the highest, with
// equal neighbours, as the limits of ragged rows do that fill all of their memory.
const (
	random contents = iota
	lowest
	highest
	rising
)

// values are n values of the contents within limits; nil where they are random or there is no such limit.
func (k contents) values(n int64, limits ndarray.Contents) []float64 {
	low, high := limits.Min, limits.Max
	switch {
	case k == lowest && low != nil:
		return slices.Repeat([]float64{*low}, int(n))
	case k == highest && high != nil:
		return slices.Repeat([]float64{*high}, int(n))
	case k == rising && low != nil && high != nil && n > 0:
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

// checkContents fills inputs that declare a range with its lowest value, with its highest, and with values from one to the
// other: ragged rows that are all empty, that begin behind others, that fill their memory.
func checkContents(t *T) error {
	return t.eachCase(contentPlans, t.valueOf)
}

func contentPlans(d dtypes) []plan {
	var plans []plan
	for _, kind := range []struct {
		contents contents
		name     string
	}{{lowest, "lowest"}, {highest, "highest"}, {rising, "rising"}} {
		p := base(d)
		p.name, p.contents = kind.name, kind.contents
		plans = append(plans, p)
	}
	return plans
}
