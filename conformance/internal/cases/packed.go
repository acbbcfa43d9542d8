package cases

import (
	"math/big"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Numbers is the dtype of the numbers in an argument: its own, that of which each element holds several, or that of the parts of
// complex numbers, which are judged one by one.
func (c *Case) Numbers(a *opdef.Arg) dtype.DType {
	if a.Packs != "" {
		return dtype.Must(a.Packs)
	}
	return c.DType(a.Type).Part()
}

// Given are the numbers in an input.
func (c *Case) Given(i int) *ndarray.Array { return c.Unpacked(&c.Op.Inputs[i], c.Inputs[i]) }

// Unpacked are the numbers in an array that stands for an argument: floats, or integers of 64 bits, where each element holds several.
func (c *Case) Unpacked(arg *opdef.Arg, a *ndarray.Array) *ndarray.Array {
	if arg.Packs == "" || a == nil {
		return a
	}
	numbers, wide := ndarray.Unpack(a, c.Numbers(arg)), "f32"
	if ndarray.IsInteger(numbers.DType) {
		wide = "i64"
	}
	return ndarray.FromFloats(dtype.Must(wide), numbers.Shape, numbers.Floats())
}

// ShapeOfNumbers is the shape of the numbers in an argument: the parts of complex ones are a last dimension of two.
func (c *Case) ShapeOfNumbers(a *opdef.Arg) ([]int64, error) {
	shape, err := c.ShapeOf(a)
	if err == nil && c.DType(a.Type).Complex() {
		shape = append(slices.Clone(shape), 2)
	}
	if err == nil && a.Packs != "" {
		shape[len(shape)-1] *= int64(c.DType(a.Type).Bits / c.Numbers(a).Bits)
	}
	return shape, err
}

// allCodes are the limits of an input, those of all numbers in all places where it packs some.
func allCodes(in *opdef.Arg, d dtype.DType, limits ndarray.Contents) ndarray.Contents {
	if in.Packs != "" {
		low, high := ndarray.IntRange(d)
		limits.Min, limits.Max = new(big.Rat).SetInt(low), new(big.Rat).SetInt(high)
	}
	return limits
}
