package ndarray

import (
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
)

// Pack is the inverse of Unpack.
func Pack(a *Array, d dtype.DType) *Array {
	per := d.Bits / a.DType.Bits
	shape := slices.Clone(a.Shape)
	shape[len(shape)-1] /= int64(per)
	out, i := New(d, shape), 0
	a.Positions(func(at int64) {
		code := getBits(a.Data, 1, at) & (1<<a.DType.Bits - 1)
		held := getBits(out.Data, ItemSize(d), int64(i/per))
		putBits(out.Data, ItemSize(d), int64(i/per), held|code<<(i%per*a.DType.Bits))
		i++
	})
	return out
}

// Unpack returns the numbers that the elements of an array of integers hold, as a dense array of a dtype of which an element has several:
// more along the last dim, those in the lowest bits first.
func Unpack(a *Array, d dtype.DType) *Array {
	per := a.DType.Bits / d.Bits
	shape := slices.Clone(a.Shape)
	shape[len(shape)-1] *= int64(per)
	out := New(d, shape)
	i := int64(0)
	a.Positions(func(at int64) {
		code := getBits(a.Data, ItemSize(a.DType), at)
		for k := range per {
			putBits(out.Data, 1, i, code>>(k*d.Bits)&(1<<d.Bits-1))
			i++
		}
	})
	return out
}
