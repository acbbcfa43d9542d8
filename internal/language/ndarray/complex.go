package ndarray

import (
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
)

// Parts are the real and the imaginary parts of complex numbers as a last dimension of two, in the same memory; an array of other
// numbers is itself.
func (a *Array) Parts() *Array {
	if !a.DType.Complex() {
		return a
	}
	strides := make([]int64, 0, len(a.Strides)+1)
	for _, s := range a.Strides {
		strides = append(strides, 2*s)
	}
	return &Array{
		DType: a.DType.Part(), Shape: append(slices.Clone(a.Shape), 2), Strides: append(strides, 1), Offset: 2 * a.Offset, Data: a.Data,
	}
}

// Full is a dense array of one real number.
func Full(d dtype.DType, shape []int64, v float64) *Array {
	number := []float64{v}
	if d.Complex() {
		number = []float64{v, 0}
	}
	return FromFloats(d, shape, slices.Repeat(number, int(Count(shape))))
}

// ComplexText is a complex number as Python writes it.
func ComplexText(z complex128) string {
	text := strconv.FormatComplex(z, 'g', -1, 128)
	return strings.TrimSuffix(strings.TrimPrefix(text, "("), "i)") + "j"
}

// ofParts is a dense array of complex numbers, of which another dense array has the parts.
func ofParts(d dtype.DType, shape []int64, parts *Array) *Array {
	return &Array{DType: d, Shape: slices.Clone(shape), Strides: DenseStrides(shape), Data: parts.Data}
}

// partShape is the shape of the parts of numbers.
func partShape(d dtype.DType, shape []int64) []int64 {
	if d.Complex() {
		return append(slices.Clone(shape), 2)
	}
	return shape
}
