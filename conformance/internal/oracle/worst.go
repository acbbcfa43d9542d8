package oracle

import (
	"github.com/opcast/opcast/internal/language/ndarray"
)

// Index is the place of the worst element.
func (in *inspection) Index(got *ndarray.Array) []int64 {
	index := got.Index(in.Worst.At)
	if in.whole != nil {
		index = index[:len(index)-1]
	}
	return index
}

// Len is the number of elements.
func (in *inspection) Len(got *ndarray.Array) int64 {
	if in.whole != nil {
		return got.Len() / 2
	}
	return got.Len()
}

// GotText is the worst element, as messages print it.
func (in *inspection) GotText(got *ndarray.Array) string {
	if in.whole != nil {
		return ndarray.ComplexText(in.whole[0])
	}
	return in.Worst.Got.text(got.DType)
}

// WantText is the reference's value of the worst element, as messages print it.
func (in *inspection) WantText(got *ndarray.Array) string {
	if in.whole != nil {
		return ndarray.ComplexText(in.whole[1])
	}
	return in.Worst.Want.text(got.DType)
}
