package ndarray

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/opcast/opcast/internal/language/dtype"
)

// overflow says what a float format makes of numbers beyond its largest one.
type overflow int

const (
	toInf overflow = iota // IEEE: infinities exist
	toNaN                 // the format has no infinity
	toTop                 // nor NaN
)

// format describes a binary floating-point format of at most 32 bits.
type format struct {
	exp, man, bias int
	over           overflow
	// nan is the quiet NaN, top the largest finite number, both without the sign; unsigned formats have no sign bit.
	nan, top uint64
	unsigned bool
	// oneNaN marks formats whose only NaN has the code of minus zero.
	oneNaN bool
	max    float64 // the largest finite number
}

// formats are those of dtypes, by the DLPack code and the bytes of an element: there is a look into it for every number.
var formats = byCode(map[string]format{
	"f16":        {exp: 5, man: 10, bias: 15, nan: 0x7e00, top: 0x7bff},
	"bf16":       {exp: 8, man: 7, bias: 127, nan: 0x7fc0, top: 0x7f7f},
	"f32":        {exp: 8, man: 23, bias: 127, nan: 0x7fc00000, top: 0x7f7fffff},
	"f8e4m3fn":   {exp: 4, man: 3, bias: 7, over: toNaN, nan: 0x7f, top: 0x7e},
	"f8e4m3fnuz": {exp: 4, man: 3, bias: 8, over: toNaN, nan: 0x80, top: 0x7f, oneNaN: true},
	"f8e5m2":     {exp: 5, man: 2, bias: 15, nan: 0x7e, top: 0x7b},
	"f8e5m2fnuz": {exp: 5, man: 2, bias: 16, over: toNaN, nan: 0x80, top: 0x7f, oneNaN: true},
	"f4e2m1fn":   {exp: 2, man: 1, bias: 1, over: toTop, nan: 7, top: 7},
	"f8e8m0fnu":  {exp: 8, man: 0, bias: 127, over: toNaN, nan: 0xff, top: 0xfe, unsigned: true},
})

func byCode(named map[string]format) (table [32][17]*format) {
	for short, f := range named {
		d, _ := dtype.Lookup(short)
		f.max = f.decode(f.top)
		table[d.Code][d.Bits/8] = &f
	}
	return table
}

// formatOf is nil for integers and float64.
func formatOf(d dtype.DType) *format { return formats[d.Code][d.Bits/8] }

// minExp is the exponent of the smallest normal number.
func (f format) minExp() int { return 1 - f.bias }

func (f format) sign() uint64 { return 1 << (f.exp + f.man) }

// encode rounds v to nearest, ties to even.
func (f format) encode(v float64) uint64 {
	var sign uint64
	if math.Signbit(v) && !f.unsigned {
		sign = f.sign()
	}
	switch {
	case math.IsNaN(v) && !f.oneNaN:
		return sign | f.nan
	case math.IsNaN(v) || f.unsigned && v < 0:
		return f.nan
	}
	code := f.magnitude(math.Abs(v))
	if code == 0 && f.oneNaN || f.unsigned {
		return code
	}
	return sign | code
}

// magnitude encodes v >= 0 without the sign.
func (f format) magnitude(v float64) uint64 {
	if f.unsigned {
		return f.exponent(v)
	}
	if v == 0 {
		return 0
	}
	limit := f.top + 1
	if code := f.rounded(v); code < limit {
		return code
	}
	if f.over != toInf {
		return f.nan
	}
	return limit // the code after the largest number is infinity
}

// rounded is the code that v > 0 would have in a format without a largest number.
func (f format) rounded(v float64) uint64 {
	bits := math.Float64bits(v)
	if int(bits>>52)-1023 < f.minExp() {
		return uint64(math.RoundToEven(math.Ldexp(v, f.man-f.minExp())))
	}
	// In the bits of float64, mantissas that are rounded up to the next power of two carry into the exponent.
	drop := 52 - f.man
	return (bits+1<<(drop-1)-1+bits>>drop&1)>>drop - uint64(1023-f.bias)<<f.man
}

// exponent encodes v >= 0 where there is nothing but an exponent: no zero, no infinity.
func (f format) exponent(v float64) uint64 {
	if v == 0 || math.IsInf(v, 0) {
		return f.nan
	}
	e := math.Ilogb(v)
	if math.RoundToEven(math.Ldexp(v, -e)) == 2 {
		e++
	}
	code := max(e+f.bias, 0)
	return min(uint64(code), f.nan)
}

func (f format) decode(code uint64) float64 {
	if f.unsigned {
		if code == f.nan {
			return math.NaN()
		}
		return math.Ldexp(1, int(code)-f.bias)
	}
	if f.oneNaN && code == f.nan {
		return math.NaN()
	}
	sign, rest := 1.0, code&^f.sign()
	if code&f.sign() != 0 {
		sign = -1
	}
	if exponent := rest >> f.man; exponent > 0 && rest <= f.top {
		return sign * math.Float64frombits((exponent+uint64(1023-f.bias))<<52|rest<<(52-f.man)&(1<<52-1))
	}
	switch {
	case rest > f.top && f.over == toInf && rest == f.top+1:
		return math.Inf(int(sign))
	case rest > f.top:
		return math.NaN()
	}
	return sign * math.Ldexp(float64(rest), f.minExp()-f.man) // less than the smallest normal number
}

// IsFloat reports whether the element type is a floating-point type.
func IsFloat(d dtype.DType) bool {
	return formatOf(d) != nil || d.Short == "f64"
}

// PutFloat stores v, rounded to the element type, as element i of data. Integers are truncated to their width.
func PutFloat(d dtype.DType, data []byte, i int64, v float64) {
	var code uint64
	switch f := formatOf(d); {
	case d.Short == "f64":
		code = math.Float64bits(v)
	case d.Short == "f32":
		code = uint64(math.Float32bits(float32(v)))
	case f != nil:
		code = f.encode(v)
	case d.Short == "bool":
		if v != 0 {
			code = 1
		}
	case v < 0:
		code = uint64(int64(v))
	default:
		code = uint64(v)
	}
	putBits(data, ItemSize(d), i, code)
}

// GetFloat reads element i of data.
func GetFloat(d dtype.DType, data []byte, i int64) float64 {
	code := getBits(data, ItemSize(d), i)
	switch f := formatOf(d); {
	case d.Short == "f64":
		return math.Float64frombits(code)
	case d.Short == "f32":
		return float64(math.Float32frombits(uint32(code)))
	case f != nil:
		return f.decode(code)
	case d.Code == 0: // signed: the sign bit is that of the element's width
		shift := 64 - d.Bits
		return float64(int64(code<<shift) >> shift)
	default:
		return float64(code)
	}
}

func putBits(data []byte, size, i int64, code uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], code)
	copy(data[i*size:(i+1)*size], word[:size])
}

func getBits(data []byte, size, i int64) uint64 {
	var word [8]byte
	copy(word[:size], data[i*size:(i+1)*size])
	return binary.LittleEndian.Uint64(word[:])
}

// FromFloats returns a dense array of the values, each rounded to the element type. A complex number has two, its parts.
func FromFloats(d dtype.DType, shape []int64, values []float64) *Array {
	if d.Complex() {
		return ofParts(d, shape, FromFloats(d.Part(), partShape(d, shape), values))
	}
	a := New(d, shape)
	if int64(len(values)) != a.Len() {
		panic(fmt.Sprintf("ndarray: %d values for shape %v", len(values), shape))
	}
	for i, v := range values {
		PutFloat(d, a.Data, int64(i), v)
	}
	return a
}

// Floats are the elements in row-major order, of complex ones both parts.
func (a *Array) Floats() []float64 {
	a = a.Parts()
	out := make([]float64, 0, a.Len())
	a.Positions(func(at int64) { out = append(out, GetFloat(a.DType, a.Data, at)) })
	return out
}

// Round returns v as the element type holds it.
func Round(d dtype.DType, v float64) float64 {
	var word [8]byte
	PutFloat(d, word[:], 0, v)
	return GetFloat(d, word[:], 0)
}
