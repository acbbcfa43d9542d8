package run

import (
	"bytes"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// plantedInLists are mutants of an op of lists: each check named must fail, with this text.
var plantedInLists = map[string]struct {
	checks, text string
	fake         fake.Framework
}{
	"the third array is wrong":         {"list-lengths", "ys[2]", fake.Framework{After: onArray("ys[2]")}},
	"the third is not overwritten":     {"list-lengths", "totals[2]", fake.Framework{After: unchanged("totals[2]")}},
	"one array is too few":             {"list-lengths", "lengths", fake.Framework{After: ofLength(1)}},
	"arrays past sixty-four are wrong": {"list-lengths", "ys[64]", fake.Framework{After: onArray("ys[64]")}},
	"empty lists compute":              {"list-errors", "at least 1 array, got 0", fake.Framework{Before: computeDespite("at least 1 array")}},
	"unequal lengths compute":          {"list-errors", "2 arrays (as xs), got 1", fake.Framework{Before: computeDespite("(as xs), got 1")}},
	"an array is taken for a list":     {"list-errors", "totals: expected a list of fake.array", fake.Framework{Before: computeDespite("totals: expected a list")}},
	"another class is raised":          {"list-errors", "got TypeError", fake.Framework{After: anotherClass("at least 1 array")}},
}

func TestPlantedInListsIsFound(t *testing.T) {
	for name, planted := range plantedInLists {
		t.Run(name, func(t *testing.T) {
			for id := range strings.FieldsSeq(planted.checks) {
				caller := planted.fake
				caller.CallerName = "fake"
				if status := fakeRunOf(t, "gather", id, &caller, nil); !strings.Contains(status, "fail: ") || !strings.Contains(status, planted.text) {
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}

// TestPlantedBeyondTwoIsMissed: the other checks pass two arrays, so that list-lengths is what finds an error in a third.
func TestPlantedBeyondTwoIsMissed(t *testing.T) {
	caller := &fake.Framework{CallerName: "fake", After: onArray("ys[2]")}
	if status := fakeRunOf(t, "gather", "value", caller, nil); strings.Contains(status, "fail: ") {
		t.Error(status)
	}
}

// resultOf is the result of a call that an argument of this name is, or nil.
func resultOf(c *calls.Call, r *calls.Result, name string) *calls.Output {
	if r.Error != nil {
		return nil
	}
	for i, s := range cases.Slots(c.Op) {
		if s.Name == name && i < len(r.Outputs) && r.Outputs[i].Array != nil && r.Outputs[i].Len() > 0 {
			return &r.Outputs[i]
		}
	}
	return nil
}

// onArray changes the first element of one result.
func onArray(name string) func(*calls.Call, *calls.Result) {
	return func(c *calls.Call, r *calls.Result) {
		if o := resultOf(c, r, name); o != nil {
			ndarray.PutFloat(o.DType, o.Data, 0, ndarray.GetFloat(o.DType, o.Data, 0)+64)
		}
	}
}

// unchanged leaves one argument as it was.
func unchanged(name string) func(*calls.Call, *calls.Result) {
	return func(c *calls.Call, r *calls.Result) {
		for i, in := range c.Op.Inputs {
			if o := resultOf(c, r, name); o != nil && in.Name == name {
				before := c.Inputs[i].(*calls.Tensor)
				copy(r.Buffers[c.TensorIndex(before)], before.Data)
				copy(o.Data, before.Bytes())
			}
		}
	}
}

// ofLength changes a result of calls with so many arrays for each list.
func ofLength(n int64) func(*calls.Call, *calls.Result) {
	return func(c *calls.Call, r *calls.Result) {
		if l := calls.ListsOf(c.Op); l != nil && l.Lengths[0] == n {
			onArray("all_rows")(c, r)
		}
	}
}

// computeDespite answers calls whose lists must raise an error with this text.
func computeDespite(text string) func(*calls.Call) (*calls.Result, error) {
	return func(call *calls.Call) (*calls.Result, error) {
		if call.Lists == nil {
			return nil, nil
		}
		right := (&fake.Framework{CallerName: "fake"}).Answer(call)
		if right.Error == nil || !strings.Contains(right.Error.Text, text) {
			return nil, nil
		}
		r := &calls.Result{Outputs: make([]calls.Output, len(cases.Slots(call.Op)))}
		for _, x := range call.Tensors() {
			r.Buffers = append(r.Buffers, bytes.Clone(x.Data))
		}
		return r, nil
	}
}

// anotherClass raises a TypeError with the text of another error.
func anotherClass(text string) func(*calls.Call, *calls.Result) {
	return func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil && strings.Contains(r.Error.Text, text) {
			r.Error = &calls.CallError{Class: "TypeError", Text: r.Error.Text}
		}
	}
}
