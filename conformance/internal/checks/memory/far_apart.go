package memory

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var farApartCheck = check.Check{
	ID: "far-apart", Group: check.GroupStrides, Profile: check.ProfileExtended,
	Doc:      "rows so far apart that their distance needs 64 bits give what dense rows give",
	Through:  check.ThroughAdaptors,
	HostOnly: "a device provides all memory that is asked for, and rows so far apart need more than it has",
	Needs:    check.HasWatchProbe(check.GroupWatch, "far", check.TakesStrides), Foreign: check.AboutGenerated,
	Run: check.WithFewerDTypes(checkFarApart),
}

// farStride is a number of elements that 32 bits do not hold; odd, so that rows lie at all alignments.
const farStride = 1<<31 + 1

// checkFarApart puts the rows of each input further apart than 32-bit offsets reach.
func checkFarApart(t *check.T) error {
	tried := false
	err := t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		plain, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		for i, x := range c.Inputs {
			// Of few rows: the memory between them is reserved.
			axis := -1
			if x != nil {
				axis = slices.IndexFunc(x.Shape, func(n int64) bool { return n > 1 && n < 8 })
			}
			if axis < 0 || axis == x.Rank()-1 && t.Op.Inputs[i].Stride != "any" || x.Len() == 0 {
				continue
			}
			tried = true
			if err := check.Proceed(farApart(t, c, plain, i, axis)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !tried {
		return check.Skip("no input has rows")
	}
	return err
}

func farApart(t *check.T, c *cases.Case, plain *calls.Result, i, axis int) error {
	x := c.Inputs[i]
	far := &ndarray.Array{DType: x.DType, Shape: x.Shape, Strides: slices.Clone(ndarray.DenseStrides(x.Shape))}
	far.Strides[axis] = farStride
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	name := c.Name + ", " + t.Op.Inputs[i].Name + " far apart"
	call.Kernel = t.ForcedKernel()
	result, err := t.CallWatched("far", call, name, map[string]any{"input": int64(i), "axis": int64(axis), "stride": int64(farStride)})
	if err != nil {
		return err
	}
	described := call.Clone()
	described.Inputs[i] = &calls.Tensor{Array: far}
	if expected := t.ExpectedError(described); expected != nil {
		t.ExpectError(call, name, result, expected)
		return nil
	}
	if result = t.ExpectSuccess(call, name, result); result != nil {
		t.ExpectSameBits(call, name, result, plain)
	}
	return nil
}
