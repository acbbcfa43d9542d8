package cases

import (
	"math/big"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Numbers is the dtype of the numbers in an argument: its own, or that of which each element holds several.
func (c *Case) Numbers(a *opdef.Arg) dtype.DType {
	if a.Packs != "" {
		return dtype.Must(a.Packs)
	}
	return c.DType(a.Type)
}

// Given are the numbers in an input, those of less than a byte in a dtype of one or more.
func (c *Case) Given(i int) *ndarray.Array {
	in := &c.Op.Inputs[i]
	if in.Packs == "" || c.Inputs[i] == nil {
		return c.Inputs[i]
	}
	numbers, wide := ndarray.Unpack(c.Inputs[i], c.Numbers(in)), "f32"
	if ndarray.IsInteger(numbers.DType) {
		wide = "i8"
	}
	return ndarray.FromFloats(dtype.Must(wide), numbers.Shape, numbers.Floats())
}

// ShapeOfNumbers is the shape of what an argument holds.
func (c *Case) ShapeOfNumbers(a *opdef.Arg) ([]int64, error) {
	shape, err := c.ShapeOf(a)
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
