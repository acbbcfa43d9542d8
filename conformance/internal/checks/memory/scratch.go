package memory

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/opdef"
)

var scratchCheck = check.Check{
	ID: "scratch", Group: check.GroupAliasing,
	Doc:   "work space may hold anything, and nothing around it is written",
	Needs: hasScratch, Foreign: check.Foreign{Judged: true, Functions: check.AboutGenerated.Functions},
	Run: check.WithFewerDTypes(checkScratch),
}

// hasScratch holds where a caller passes work space.
func hasScratch(op *opdef.Op, caller calls.Caller) error {
	if len(op.Scratch) == 0 {
		return check.Skip("the op has no scratch")
	}
	if !calls.IsBare(caller) {
		return check.Unsupported("a public call has no scratch: the adaptor allocates it")
	}
	return nil
}

// checkScratch calls with work space full of different bytes: the bits are the same, and nothing around it is written.
// Without work space a kernel that takes none gives them too, and op_call, which allocates it; others say what they lack.
func checkScratch(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, func(c *cases.Case) error {
		want, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		err = check.ForEach([]byte{0, 0x3f}, func(fill byte) error { return callWithScratch(t, c, fill, want) })
		if err != nil {
			return err
		}
		return callWithoutScratch(t, c, want)
	})
}

// callWithoutScratch calls without scratch, and without each of several: right where the kernel takes none, else an error.
func callWithoutScratch(t *check.T, c *cases.Case, want *calls.Result) error {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	if mayOmitScratch(t, c) {
		call.Scratch = nil
		return t.ExpectCallBits(call, c.Name+", no scratch", want)
	}
	for i, x := range call.Scratch {
		lacking := call.Clone()
		lacking.Scratch[i] = nil
		name := c.Name + ", no " + t.Op.Scratch[i].Name
		result, err := t.Call(lacking, name)
		if err == nil {
			t.ExpectError(lacking, name, result, invalid.MissingScratchError(t.Op, i, x.Array))
		} else if err = check.Proceed(err); err != nil {
			return err
		}
	}
	return nil
}

// callWithScratch calls with scratch full of a byte.
func callWithScratch(t *check.T, c *cases.Case, fill byte, want *calls.Result) error {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	if call.Scratch, err = calls.FilledScratch(c, fill); err != nil {
		return err
	}
	return t.ExpectCallBits(call, fmt.Sprintf("%s, scratch full of %#x", c.Name, fill), want)
}

// mayOmitScratch reports whether a call of the present row may leave the scratch out: no kernel runs that wants it, or op_call
// allocates it. On a GPU, that needs a framework, which is not there.
func mayOmitScratch(t *check.T, c *cases.Case) bool {
	k := t.RowKernel()
	return t.Caller.Name() == calls.OpCallName && t.Env.Device == "cpu" || k != nil && !k.Scratch || c.Empty()
}
