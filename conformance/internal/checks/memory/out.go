package memory

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var outCheck = check.Check{
	ID: "out", Group: check.GroupAliasing, Profile: check.ProfileFast,
	Doc:     "out= is filled completely, is the result, and nothing around it is written",
	Through: check.ThroughAdaptors, Needs: check.OutputsGiven,
	Foreign: check.Foreign{Judged: true, Functions: "its parameters are those that its author gave it"},
	Run:     check.WithFewerDTypes(checkOut),
}

// checkOut passes output arrays full of NaN, surrounded by guard bytes: they are the results, every element is written
// and nothing around them.
func checkOut(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, func(c *cases.Case) error {
		want, err := callWithOwnMemory(t, c)
		if err != nil {
			return err
		}
		call := calls.New(c)
		if call.Out, err = calls.PoisonedOutputs(c, calls.IsBare(t.Caller)); err != nil {
			return err
		}
		if err := call.AddScratch(t.Caller, c); err != nil {
			return err
		}
		result, err := t.Call(call, c.Name)
		if err != nil {
			return err
		}
		if result = t.ExpectSuccess(call, c.Name+", out=", result); result == nil {
			return nil
		}
		for i, o := range result.Existing() {
			if cases.Slots(t.Op)[i].Output >= 0 && o.OutIndex != i {
				t.Fail(call, c.Name, "the result is not the array given for %s", t.Op.Outputs[i].Name)
			}
		}
		t.ExpectSameBits(call, c.Name+", out=", result, want)
		t.ExpectOutputGuards(call, c.Name, result)
		return nil
	})
}

// callWithOwnMemory is the result in memory that the adaptor allocates; the backend has only memory that is given, so
// a second fill byte stands for other memory.
func callWithOwnMemory(t *check.T, c *cases.Case) (*calls.Result, error) {
	if !calls.IsBare(t.Caller) {
		return t.RunBaseline(t.Caller, c)
	}
	call := calls.New(c)
	var err error
	if call.Out, err = calls.OutputArrays(c, true, func(zeros *ndarray.Array) *ndarray.Array { return zeros }); err != nil {
		return nil, err
	}
	if err := call.AddScratch(t.Caller, c); err != nil {
		return nil, err
	}
	result, err := t.Call(call, c.Name)
	if err != nil {
		return nil, err
	}
	if result = t.ExpectSuccess(call, c.Name, result); result == nil {
		return nil, check.ErrAccounted
	}
	return result, nil
}
