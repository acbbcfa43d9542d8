package ndarray

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/language/dtype"
)

// FloatExact is the number up to which float64 has every integer. Only element types of 64 bits hold larger ones.
const FloatExact = 1 << 53

// IsInteger reports whether the element type holds integers. Booleans are none.
func IsInteger(d dtype.DType) bool { return d.Short != "bool" && d.Code <= 1 }

// IsWide reports whether the element type holds integers that float64 does not have.
func IsWide(d dtype.DType) bool { return IsInteger(d) && d.Bits == 64 }

// IntRange returns the smallest and the largest number of an integer type, and 0 and 1 for booleans.
func IntRange(d dtype.DType) (low, high *big.Int) {
	if !IsInteger(d) {
		return big.NewInt(0), big.NewInt(1)
	}
	one := big.NewInt(1)
	if d.Code == 1 {
		return big.NewInt(0), new(big.Int).Sub(new(big.Int).Lsh(one, uint(d.Bits)), one)
	}
	end := new(big.Int).Lsh(one, uint(d.Bits-1))
	return new(big.Int).Neg(end), new(big.Int).Sub(end, one)
}

// code is the number modulo 2^64, as memory holds it.
func code(v *big.Int) uint64 {
	if v.Sign() < 0 {
		return -new(big.Int).Neg(v).Uint64()
	}
	return v.Uint64()
}

// PutInt stores v as element i of data, modulo the width of the integer type.
func PutInt(d dtype.DType, data []byte, i int64, v *big.Int) { putBits(data, ItemSize(d), i, code(v)) }

// GetInt reads element i of data, of an integer or boolean type.
func GetInt(d dtype.DType, data []byte, i int64) *big.Int {
	held := getBits(data, ItemSize(d), i)
	if d.Code == 0 {
		shift := 64 - d.Bits
		return big.NewInt(int64(held<<shift) >> shift)
	}
	return new(big.Int).SetUint64(held)
}

// Ints are the elements in row-major order, of an integer or boolean type.
func (a *Array) Ints() []*big.Int {
	out := make([]*big.Int, 0, a.Len())
	a.Positions(func(at int64) { out = append(out, GetInt(a.DType, a.Data, at)) })
	return out
}

// FromInts returns a dense array of the values, each modulo the width of the integer type.
func FromInts(d dtype.DType, shape []int64, values []*big.Int) *Array {
	a := New(d, shape)
	if int64(len(values)) != a.Len() {
		panic(fmt.Sprintf("ndarray: %d values for shape %v", len(values), shape))
	}
	for i, v := range values {
		PutInt(d, a.Data, int64(i), v)
	}
	return a
}

// Text is element i of data as messages print it: integers with all of their digits.
func Text(d dtype.DType, data []byte, i int64) string {
	if IsInteger(d) {
		return GetInt(d, data, i).String()
	}
	if d.Complex() {
		return ComplexText(complex(GetFloat(d.Part(), data, 2*i), GetFloat(d.Part(), data, 2*i+1)))
	}
	return fmt.Sprint(GetFloat(d, data, i))
}

// FloatText is a number that is to be an element of the type, as messages print it.
func FloatText(d dtype.DType, v float64) string {
	if IsInteger(d) && v == math.Trunc(v) && !math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return fmt.Sprint(v)
}

// Bits say which integers an array holds: those of the lowest bits of the type, of which only the first Significant ones of each
// number may be set. Highest makes each of them the highest one.
type Bits struct {
	Used, Significant int
	Highest, Sorted   bool
}

// LargeIntegers returns a dense array of integers of all sizes, in bits; the lowest and the highest one are there if there is
// room for both.
func LargeIntegers(rng *rand.Rand, d dtype.DType, shape []int64, b Bits) *Array {
	size := b.Used // of a number without its sign
	low := big.NewInt(0)
	if d.Code == 0 {
		size--
		low.Neg(low.Lsh(big.NewInt(1), uint(size)))
	}
	high := b.leading(math.MaxUint64 >> (64 - size))
	values := make([]*big.Int, Count(shape))
	for i := range values {
		values[i] = high
		if !b.Highest {
			values[i] = b.leading(rng.Uint64() >> (64 - 1 - rng.IntN(size)))
		}
		if !b.Highest && d.Code == 0 && rng.IntN(2) == 0 {
			values[i].Neg(values[i])
		}
	}
	if last := len(values) - 1; last > 0 && !b.Highest {
		values[0], values[last] = low, high
	}
	if b.Sorted {
		slices.SortFunc(values, (*big.Int).Cmp)
	}
	return FromInts(d, shape, values)
}

// leading is a number of which only the leading bits are left.
func (b Bits) leading(v uint64) *big.Int {
	drop := max(bits.Len64(v)-b.Significant, 0)
	return new(big.Int).SetUint64(v >> drop << drop)
}
