package memory

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var misalignedCheck = check.Check{
	ID: "misaligned", Group: check.GroupStrides, Generated: true,
	Doc:     "arrays one element beside the usual alignment give the same bits, by a kernel that takes them",
	Through: check.ThroughAdaptors, Needs: check.TakesStrides, Foreign: check.Judges,
	Run: check.WithFewerDTypes(checkMisaligned),
}

// checkMisaligned moves arrays one element away from where allocators put them. A kernel that needs more says so, dispatch
// finds another one, and the results stay the same.
func checkMisaligned(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		plain, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		moved := c
		for i, x := range c.Inputs {
			if x != nil && x.Len() > 0 {
				moved = moved.With(i, ndarray.Guarded(x, 1, calls.GuardByte), t.Op.Inputs[i].Name+" moved")
			}
		}
		got, call, err := movedCall(t, moved)
		if err == nil {
			t.ExpectSameBits(call, moved.Name, got, plain)
		} else if err = check.Proceed(err); err != nil {
			return err
		}
		// Dispatch chooses, also where the kernel of this row had to decline.
		if got, call, err = movedCall(t.With(""), moved); err != nil {
			return err
		}
		t.ExpectOutputGuards(call, moved.Name, got)
		return t.ExpectReference(call, moved, got)
	})
}

// movedCall calls with outputs one element away, too, where the caller gives them.
func movedCall(t *check.T, c *cases.Case) (*calls.Result, *calls.Call, error) {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return nil, nil, err
	}
	if calls.IsBare(t.Caller) {
		call.Out, err = calls.OutputArrays(c, true, func(o *ndarray.Array) *ndarray.Array {
			return ndarray.Guarded(o, calls.GuardElements+1, calls.GuardByte)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	result, err := t.Call(call, c.Name)
	if err != nil {
		return nil, nil, err
	}
	if result = t.ExpectSuccess(call, c.Name, result); result == nil {
		return nil, nil, check.ErrAccounted
	}
	return result, call, nil
}
