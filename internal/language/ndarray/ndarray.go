// Package ndarray holds arrays of any element type in plain Go: a buffer, a shape and strides.
//
// The conformance suite makes its inputs and judges its outputs with it, so that no framework judges itself.
package ndarray

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
)

// Array is a strided view of a buffer. Strides and Offset count elements.
type Array struct {
	DType   dtype.DType
	Shape   []int64
	Strides []int64
	Offset  int64
	Data    []byte
}

// New returns a dense array of zeros. Element types narrower than a byte are not supported.
func New(d dtype.DType, shape []int64) *Array {
	return &Array{
		DType: d, Shape: slices.Clone(shape), Strides: DenseStrides(shape), Data: make([]byte, Count(shape)*ItemSize(d)),
	}
}

// Of returns the array with the given shape whose dense elements are data.
func Of(d dtype.DType, shape []int64, data []byte) (*Array, error) {
	if want := Count(shape) * ItemSize(d); int64(len(data)) != want {
		return nil, fmt.Errorf("%s%v needs %d bytes, got %d", d.Long, shape, want, len(data))
	}
	return &Array{DType: d, Shape: slices.Clone(shape), Strides: DenseStrides(shape), Data: data}, nil
}

// ItemSize is the number of bytes of one element.
func ItemSize(d dtype.DType) int64 { return int64(d.Bits+7) / 8 }

// Count is the number of elements of a shape.
func Count(shape []int64) int64 {
	n := int64(1)
	for _, size := range shape {
		n *= size
	}
	return n
}

// DenseStrides are the row-major strides of a shape.
func DenseStrides(shape []int64) []int64 {
	strides := make([]int64, len(shape))
	step := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = step
		step *= max(shape[i], 1)
	}
	return strides
}

// Len is the number of elements.
func (a *Array) Len() int64 { return Count(a.Shape) }

// Rank is the number of dimensions.
func (a *Array) Rank() int { return len(a.Shape) }

// IsDense reports whether the elements lie in row-major order without gaps. The stride of a dimension of size 1 has no
// meaning, nor has any stride of an empty array.
func (a *Array) IsDense() bool {
	if a.Len() == 0 {
		return true
	}
	dense := DenseStrides(a.Shape)
	for i, size := range a.Shape {
		if size != 1 && a.Strides[i] != dense[i] {
			return false
		}
	}
	return true
}

// Positions calls visit with the place of every element in the buffer, in row-major order.
func (a *Array) Positions(visit func(element int64)) {
	if a.Len() == 0 {
		return
	}
	index := make([]int64, len(a.Shape))
	for at := a.Offset; ; {
		visit(at)
		dim := len(index) - 1
		for ; dim >= 0; dim-- {
			index[dim]++
			at += a.Strides[dim]
			if index[dim] < a.Shape[dim] {
				break
			}
			at -= a.Strides[dim] * a.Shape[dim]
			index[dim] = 0
		}
		if dim < 0 {
			return
		}
	}
}

// Bytes are the elements in row-major order without gaps.
func (a *Array) Bytes() []byte {
	size := ItemSize(a.DType)
	if a.Len() == 0 { // its offset may be beyond its memory
		return nil
	}
	if a.IsDense() {
		return a.Data[a.Offset*size : (a.Offset+a.Len())*size]
	}
	out := make([]byte, 0, a.Len()*size)
	a.Positions(func(at int64) { out = append(out, a.Data[at*size:(at+1)*size]...) })
	return out
}

// Dense returns a copy without gaps.
func (a *Array) Dense() *Array {
	return &Array{
		DType: a.DType, Shape: slices.Clone(a.Shape), Strides: DenseStrides(a.Shape), Data: bytes.Clone(a.Bytes()),
	}
}

// Repeat is an array whose elements along an axis are those of another, again and again, until there are n.
func Repeat(a *Array, axis int, n int64) *Array {
	shape := slices.Clone(a.Shape)
	shape[axis] = n
	return &Array{
		DType: a.DType, Shape: shape, Strides: DenseStrides(shape),
		Data: RepeatElements(a.Bytes(), append(slices.Clone(a.Shape), ItemSize(a.DType)), axis, n),
	}
}

// RepeatElements does that with the elements of an array in row-major order.
func RepeatElements[T any](items []T, shape []int64, axis int, n int64) []T {
	row, have := Count(shape[axis+1:]), shape[axis]
	var out []T
	for outer := int64(0); outer < int64(len(items)); outer += have * row {
		for done := int64(0); done < n; done += have {
			out = append(out, items[outer:outer+min(have, n-done)*row]...)
		}
	}
	return out
}

// Index turns a row-major position into one index per dimension.
func (a *Array) Index(flat int64) []int64 {
	index := make([]int64, len(a.Shape))
	for i := len(a.Shape) - 1; i >= 0; i-- {
		index[i] = flat % max(a.Shape[i], 1)
		flat /= max(a.Shape[i], 1)
	}
	return index
}
