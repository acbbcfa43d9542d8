package memory

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
)

var sideBySideCheck = check.Check{
	ID: "side-by-side", Group: check.GroupAliasing, Generated: true,
	Doc:     "overwritten columns of one buffer do not disturb each other",
	Through: check.ThroughAdaptors, Needs: hasMutated, Foreign: check.Judges, Run: check.WithFewerDTypes(checkSideBySide),
}

// checkSideBySide puts two arguments of one shape, of which one is overwritten, into the columns of one buffer, one
// beside the other with a column to spare: they do not overlap, so where strides are allowed that is a valid call.
func checkSideBySide(t *check.T) error {
	found := false
	err := t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		for i := range c.Inputs {
			for j := range c.Inputs {
				halves := columns(c, i, j)
				if halves == nil {
					continue
				}
				found = true
				if err := check.Proceed(sideBySide(t, c, halves, i, j)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && !found {
		return check.Skip("no two arguments, one of them overwritten, have the same shape")
	}
	return err
}

// columns are inputs i and j as halves of a buffer; nil if they do not fit or neither, or only j, is overwritten.
func columns(c *cases.Case, i, j int) []*ndarray.Array {
	a, b := c.Inputs[i], c.Inputs[j]
	if i == j || !c.Op.Inputs[i].Mutated || a == nil || b == nil || a.Rank() == 0 || a.DType != b.DType ||
		rule.List(a.Shape) != rule.List(b.Shape) || c.Op.Inputs[j].Mutated && j < i {
		return nil
	}
	wide := slices.Clone(a.Shape)
	last := len(wide) - 1
	wide[last] = 2*wide[last] + 1
	memory := ndarray.New(a.DType, wide)
	var out []*ndarray.Array
	for k, x := range []*ndarray.Array{a, b} {
		half := &ndarray.Array{
			DType: a.DType, Shape: a.Shape, Strides: memory.Strides, Offset: int64(k) * a.Shape[last], Data: memory.Data,
		}
		size, values, next := ndarray.ItemSize(a.DType), x.Bytes(), int64(0)
		half.Positions(func(at int64) {
			copy(memory.Data[at*size:(at+1)*size], values[next:next+size])
			next += size
		})
		out = append(out, half)
	}
	return out
}

func sideBySide(t *check.T, c *cases.Case, halves []*ndarray.Array, i, j int) error {
	want, err := t.RunBaseline(t.Caller, c)
	if err != nil {
		return err
	}
	changed := c.With(i, halves[0], t.Op.Inputs[i].Name+" left").With(j, halves[1], t.Op.Inputs[j].Name+" right")
	return expectDenseResult(t, changed, want)
}

// expectDenseResult expects arrays that lie in an unusual way to give what dense ones gave, or the error that their
// memory is.
func expectDenseResult(t *check.T, changed *cases.Case, want *calls.Result) error {
	call, err := t.PlainCall(t.Caller, changed)
	if err != nil {
		return err
	}
	got, err := t.Call(call, changed.Name)
	if err != nil {
		return err
	}
	if expected := t.ExpectedError(call); expected != nil {
		t.ExpectError(call, changed.Name, got, expected)
		return nil
	}
	if got = t.ExpectSuccess(call, changed.Name, got); got != nil {
		if err := t.ExpectBitsOrReference(call, changed, changed.Name, got, want); err != nil {
			return err
		}
		t.ExpectOverwritten(call, changed.Name, got)
		t.ExpectInputsUnchanged(call, changed.Name, got)
	}
	return nil
}
