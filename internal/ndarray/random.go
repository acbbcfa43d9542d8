package ndarray

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/opcast/opcast/internal/dtype"
)

// Rand returns a generator whose numbers depend on the name alone, on every machine.
func Rand(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash never fails
	return rand.New(rand.NewPCG(h.Sum64(), 0x9e3779b97f4a7c15))
}

// Contents restricts the values of a random array. A zero Scale means 1.
type Contents struct {
	Min, Max *float64
	Sorted   bool
	Scale    float64
}

// Random returns a dense array: normal numbers for floats, uniform ones for integers and booleans. Of a range of integers, the
// first and the last one are always there if there is room for both: they are most often indices, which go wrong at the ends.
func Random(rng *rand.Rand, d dtype.DType, shape []int64, c Contents) *Array {
	values := make([]float64, Count(shape))
	for i := range values {
		values[i] = c.draw(rng, d)
	}
	if last := len(values) - 1; last > 0 && c.Min != nil && c.Max != nil && !IsFloat(d) {
		values[0], values[last] = float64(int64(*c.Min)), float64(int64(*c.Max))
	}
	if c.Sorted {
		slices.Sort(values)
	}
	return FromFloats(d, shape, values)
}

func (c Contents) draw(rng *rand.Rand, d dtype.DType) float64 {
	if d.Short == "bool" {
		return float64(rng.IntN(2))
	}
	if !IsFloat(d) {
		low, high := int64(-4), int64(4)
		if d.Code == 1 {
			low = 0
		}
		if c.Min != nil {
			low = int64(*c.Min)
			high = low + 8
		}
		if c.Max != nil {
			high = int64(*c.Max)
			low = min(low, high)
		}
		return float64(low + rng.Int64N(high-low+1))
	}
	scale := c.Scale
	if scale == 0 {
		scale = 1
	}
	v := Round(d, rng.NormFloat64()*scale)
	if c.Min != nil && v < *c.Min {
		v = 2**c.Min - v // reflected, so that the values keep their spread
	}
	if c.Max != nil && v > *c.Max {
		v = *c.Max
	}
	return v
}
