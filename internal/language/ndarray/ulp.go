package ndarray

import (
	"encoding/binary"
	"math"

	"github.com/opcast/opcast/internal/language/dtype"
)

// Spacing is the distance between neighbouring numbers of the float type at v; at and below the smallest normal number
// it is the spacing of the denormals.
func Spacing(d dtype.DType, v float64) float64 {
	man, low := 52, -1022
	if f := formatOf(d); f != nil {
		man, low = f.man, f.minExp()
	}
	if v == 0 || math.IsNaN(v) {
		return power(low - man)
	}
	if math.IsInf(v, 0) {
		v = Max(d)
	}
	return power(max(math.Ilogb(v), low) - man)
}

// power is 2 to an exponent.
func power(exponent int) float64 {
	if exponent < -1022 {
		return math.Ldexp(1, exponent)
	}
	return math.Float64frombits(uint64(exponent+1023) << 52)
}

// Max is the largest finite number of the float type.
func Max(d dtype.DType) float64 {
	if f := formatOf(d); f != nil {
		return f.max
	}
	return math.MaxFloat64
}

// IsUnsigned reports whether the float type has no sign: then it has no zero either.
func IsUnsigned(d dtype.DType) bool {
	f := formatOf(d)
	return f != nil && f.unsigned
}

// HasNaN reports whether the float type has NaN, as all but those of 4 bits do.
func HasNaN(d dtype.DType) bool {
	f := formatOf(d)
	return f == nil || f.over != toTop
}

// Tiny is the smallest positive number of the float type.
func Tiny(d dtype.DType) float64 { return Spacing(d, 0) }

// Error is the distance between a result and the exact value, and the spacing of the float type there: their ratio is the
// error in units in the last place. NaN agrees with NaN, and an infinity with values that round to it; where such a pair
// disagrees the distance is infinite. A result that overflowed counts as the number after the largest one; so does NaN, in a
// format that has no infinity.
func Error(d dtype.DType, got, want float64) (distance, spacing float64) {
	spacing = Spacing(d, want)
	if f := formatOf(d); f != nil && f.over == toNaN && math.IsNaN(got) && !math.IsNaN(want) {
		got = math.Copysign(math.Inf(1), want)
	}
	switch {
	case math.IsNaN(got) && math.IsNaN(want):
		return 0, spacing
	case math.IsNaN(got) || math.IsNaN(want):
		return math.Inf(1), spacing
	case math.IsInf(want, 0):
		return infiniteUnless(got == want), spacing
	case math.IsInf(got, 0):
		if got == Round(d, want) {
			return 0, spacing
		}
		top := Max(d)
		got = math.Copysign(top+Spacing(d, top), got)
	}
	return math.Abs(got - want), spacing
}

func infiniteUnless(equal bool) float64 {
	if equal {
		return 0
	}
	return math.Inf(1)
}

// Float64s reads numbers of 64 bits, little-endian.
func Float64s(data []byte) []float64 {
	out := make([]float64, len(data)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return out
}
