package ndarray

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
)

// Rand returns a generator whose numbers depend on the name alone, on every machine.
func Rand(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash never fails
	return rand.New(rand.NewPCG(h.Sum64(), 0x9e3779b97f4a7c15))
}

// Contents restricts the values of a random array. Min and Max are exact, as integers of 64 bits need it. A zero Scale means 1.
type Contents struct {
	Min, Max *big.Rat
	Sorted   bool
	Scale    float64
}

// Random returns a dense array: normal numbers for floats and for the parts of complex numbers, uniform ones for integers and booleans.
// Of a range of integers, the first and the last one are always there if there is room for both: they are most often indices, which go
// wrong at the ends.
func Random(rng *rand.Rand, d dtype.DType, shape []int64, c Contents) *Array {
	if d.Complex() {
		return ofParts(d, shape, Random(rng, d.Part(), partShape(d, shape), c))
	}
	if !IsFloat(d) {
		return c.integers(rng, d, shape)
	}
	draw := c.drawer(rng, d)
	if c.Sorted {
		values := make([]float64, Count(shape))
		for i := range values {
			values[i] = draw()
		}
		slices.Sort(values)
		return FromFloats(d, shape, values)
	}
	a := New(d, shape)
	for i := range a.Len() { // one by one: float64 of weights of a large model might not fit into memory
		PutFloat(d, a.Data, i, draw())
	}
	return a
}

// integers draws offsets from the lowest integer, which fit 64 bits whatever the signs of the ends.
func (c Contents) integers(rng *rand.Rand, d dtype.DType, shape []int64) *Array {
	low, high := c.usual(d)
	span := new(big.Int).Sub(high, low).Uint64()
	offsets := make([]uint64, Count(shape))
	for i := range offsets {
		offsets[i] = upTo(rng, span)
	}
	if last := len(offsets) - 1; last > 0 && c.Min != nil && c.Max != nil {
		offsets[0], offsets[last] = 0, span
	}
	if c.Sorted {
		slices.Sort(offsets)
	}
	a, first := New(d, shape), code(low)
	for i, offset := range offsets {
		putBits(a.Data, ItemSize(d), int64(i), first+offset)
	}
	return a
}

// upTo is a uniform number from 0 to last, last included.
func upTo(rng *rand.Rand, last uint64) uint64 {
	if last == math.MaxUint64 {
		return rng.Uint64()
	}
	return rng.Uint64N(last + 1)
}

// usual are the ends between which integers are drawn: those of the range, and small numbers where it is open.
func (c Contents) usual(d dtype.DType) (low, high *big.Int) {
	first, last := IntRange(d)
	low, high = big.NewInt(-4), big.NewInt(4)
	if d.Short == "bool" {
		return first, last
	}
	if c.Min != nil {
		low = ceil(c.Min)
		high = new(big.Int).Add(low, big.NewInt(8))
	}
	if c.Max != nil {
		high = floor(c.Max)
	}
	low, high = clamp(low, first, last), clamp(high, first, last)
	if low.Cmp(high) > 0 {
		low = high
	}
	return low, high
}

// IntEnds are the integers at the ends of a range, as far as the type has them; nil at an end that is open.
func (c Contents) IntEnds(d dtype.DType) (low, high *big.Int) {
	first, last := IntRange(d)
	if c.Min != nil {
		low = clamp(ceil(c.Min), first, last)
	}
	if c.Max != nil {
		high = clamp(floor(c.Max), first, last)
	}
	return low, high
}

func clamp(v, low, high *big.Int) *big.Int {
	switch {
	case v.Cmp(low) < 0:
		return low
	case v.Cmp(high) > 0:
		return high
	}
	return v
}

func floor(v *big.Rat) *big.Int {
	q, _ := new(big.Int).DivMod(v.Num(), v.Denom(), new(big.Int)) // the denominator is positive, so this rounds down
	return q
}

func ceil(v *big.Rat) *big.Int {
	q := floor(new(big.Rat).Neg(v))
	return q.Neg(q)
}

// drawer draws normal numbers within the range; those of an open one are still to be rounded.
func (c Contents) drawer(rng *rand.Rand, d dtype.DType) func() float64 {
	scale := cmp.Or(c.Scale, 1)
	low, high := c.FloatEnds()
	if c.Min == nil && c.Max == nil {
		if IsUnsigned(d) { // what is negative would be NaN
			return func() float64 { return math.Abs(rng.NormFloat64()) * scale }
		}
		return func() float64 { return rng.NormFloat64() * scale }
	}
	return func() float64 {
		v := Round(d, rng.NormFloat64()*scale)
		if v < low {
			v = 2*low - v // reflected, so that the values keep their spread
		}
		return min(v, high)
	}
}

// FloatEnds are the ends of a range as numbers of floating point, infinite where it is open.
func (c Contents) FloatEnds() (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if c.Min != nil {
		low, _ = c.Min.Float64()
	}
	if c.Max != nil {
		high, _ = c.Max.Float64()
	}
	return low, high
}

// Outside finds the first element that is below the range, above it, or not above its predecessor where the array is to be
// sorted. Its place is -1 where there is none.
func (c Contents) Outside(a *Array) (at int64, why Beyond) {
	if c.Min == nil && c.Max == nil && !c.Sorted {
		return -1, 0
	}
	if IsWide(a.DType) {
		low, high := c.IntEnds(a.DType)
		return firstBeyond(a.Ints(), low, high, c, func(v, than *big.Int) bool { return v.Cmp(than) < 0 })
	}
	low, high := c.FloatEnds()
	return firstBeyond(a.Floats(), low, high, c, func(v, than float64) bool { return !(v >= than) }) // NaN is in no range
}

// Beyond says in which way an element is not in a range.
type Beyond int

// The ways in which an element is not in a range.
const (
	TooLow Beyond = iota + 1
	TooHigh
	Descending
)

func firstBeyond[T any](values []T, low, high T, c Contents, less func(v, than T) bool) (int64, Beyond) {
	for i, v := range values {
		switch {
		case c.Min != nil && less(v, low):
			return int64(i), TooLow
		case c.Max != nil && less(high, v):
			return int64(i), TooHigh
		case c.Sorted && i > 0 && less(v, values[i-1]):
			return int64(i), Descending
		}
	}
	return -1, 0
}
