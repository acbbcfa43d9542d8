package ndarray

import "slices"

// Layout rearranges the memory of an array. Apply returns nil where the array has no such layout (a rank too low, or no
// dimension longer than 1); the result has the same values unless Repeats is set: then it repeats one slice.
type Layout struct {
	Name    string
	Repeats bool
	Apply   func(a *Array) *Array
}

// Layouts are the ways in which frameworks lay out views.
var Layouts = []Layout{
	{"transposed", false, transposed},
	{"sliced", false, sliced},
	{"stepped", false, stepped},
	{"expanded", true, expanded},
	{"reversed", false, reversed},
	{"flipped", false, flipped},
}

// gap fills the bytes between the elements: NaN in every float type, so that a kernel which reads them shows.
const gap = 0xff

// view returns an array over a fresh buffer of the given number of elements, holding the values of a.
func view(a *Array, strides []int64, offset, elements int64) *Array {
	size := ItemSize(a.DType)
	out := &Array{
		DType: a.DType, Shape: slices.Clone(a.Shape), Strides: strides, Offset: offset,
		Data: make([]byte, elements*size),
	}
	Fill(out.Data, gap)
	values, next := a.Bytes(), int64(0)
	out.Positions(func(at int64) {
		copy(out.Data[at*size:(at+1)*size], values[next*size:])
		next++
	})
	return out
}

// transposed stores the dimensions in reverse order.
func transposed(a *Array) *Array {
	if a.Rank() < 2 || a.Len() < 2 {
		return nil
	}
	shape := slices.Clone(a.Shape)
	slices.Reverse(shape)
	strides := DenseStrides(shape)
	slices.Reverse(strides)
	return view(a, strides, 0, a.Len())
}

// sliced cuts the array out of a larger one: rows keep unit stride, and the first element is not the buffer's.
func sliced(a *Array) *Array {
	if a.Rank() == 0 || a.Len() == 0 {
		return nil
	}
	shape := slices.Clone(a.Shape)
	for i := range shape {
		shape[i] += 3
	}
	strides := DenseStrides(shape)
	offset := int64(0)
	for _, stride := range strides {
		offset += stride
	}
	return view(a, strides, offset, Count(shape))
}

// stepped leaves one element out after each.
func stepped(a *Array) *Array {
	if a.Rank() == 0 || a.Len() < 2 {
		return nil
	}
	strides := DenseStrides(a.Shape)
	for i := range strides {
		strides[i] *= 2
	}
	return view(a, strides, 0, 2*a.Len())
}

// expanded repeats the first slice of the first dimension that is longer than 1, with stride 0.
func expanded(a *Array) *Array {
	dim := slices.IndexFunc(a.Shape, func(size int64) bool { return size > 1 })
	if dim < 0 || a.Len() == 0 {
		return nil
	}
	shape := slices.Clone(a.Shape)
	shape[dim] = 1
	base := &Array{DType: a.DType, Shape: shape, Strides: a.Strides, Offset: a.Offset, Data: a.Data}
	out := base.Dense()
	out.Shape[dim] = a.Shape[dim]
	out.Strides[dim] = 0
	return out
}

// reversed stores every dimension backwards, with negative strides.
func reversed(a *Array) *Array { return backwards(a, a.Rank()) }

// flipped stores rows backwards, each of them forwards: only the last dimension has its usual stride.
func flipped(a *Array) *Array { return backwards(a, a.Rank()-1) }

// backwards stores the first dimensions backwards; nil where none of them is longer than 1.
func backwards(a *Array, dims int) *Array {
	if a.Len() == 0 {
		return nil
	}
	strides, first := DenseStrides(a.Shape), int64(0)
	for i := range dims {
		first += strides[i] * (a.Shape[i] - 1)
		strides[i] = -strides[i]
	}
	if first == 0 {
		return nil
	}
	return view(a, strides, first, a.Len())
}

// Guarded returns an array of the given bytes with guard elements before and after it, all of one byte.
func Guarded(a *Array, guards int64, guard byte) *Array {
	size := ItemSize(a.DType)
	out := &Array{
		DType: a.DType, Shape: slices.Clone(a.Shape), Strides: DenseStrides(a.Shape), Offset: guards,
		Data: make([]byte, (a.Len()+2*guards)*size),
	}
	Fill(out.Data[:guards*size], guard)
	end := guards*size + int64(copy(out.Data[guards*size:], a.Bytes()))
	Fill(out.Data[end:], guard)
	return out
}

// Fill sets all bytes of some memory. Copies are many times faster than a loop, and work spaces are large.
func Fill(data []byte, b byte) {
	if len(data) == 0 {
		return
	}
	data[0] = b
	for n := 1; n < len(data); n *= 2 {
		copy(data[n:], data[:n])
	}
}
