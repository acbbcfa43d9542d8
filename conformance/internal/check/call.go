package check

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/system/rpc"
)

// Call runs a call with the kernel of the row. The error is ErrAccounted where the framework cannot express the call, which
// the row remembers, and where the process died, which is a failure of the call.
func (t *T) Call(call *calls.Call, name string) (*calls.Result, error) {
	return t.CallWith(t.Caller, call, name)
}

// CallWith runs a call through another caller.
func (t *T) CallWith(caller calls.Caller, call *calls.Call, name string) (*calls.Result, error) {
	return t.counted(t.attempt(caller, call, name))
}

// CallAsIs runs a call as it is, with the kernel that it names.
func (t *T) CallAsIs(caller calls.Caller, call *calls.Call, name string) (*calls.Result, error) {
	return t.counted(t.send(caller, call, name))
}

// counted counts a call that was made among those that the check is about.
func (t *T) counted(result *calls.Result, err error) (*calls.Result, error) {
	if err == nil {
		t.CurrentRow().Checked++
	}
	return result, err
}

// attempt makes a call with the kernel of the row, which may decline it, and does not count it.
func (t *T) attempt(caller calls.Caller, call *calls.Call, name string) (*calls.Result, error) {
	call = call.Clone()
	call.Kernel = t.ForcedKernel()
	return t.unlessDeclined(caller, call, name)
}

// CallUnlessDeclined runs a call as it is. One that its kernel declines does not count.
func (t *T) CallUnlessDeclined(caller calls.Caller, call *calls.Call, name string) (*calls.Result, error) {
	return t.counted(t.unlessDeclined(caller, call, name))
}

func (t *T) unlessDeclined(caller calls.Caller, call *calls.Call, name string) (*calls.Result, error) {
	result, err := t.send(caller, call, name)
	if err != nil {
		return nil, err
	}
	if err := t.Declined(call, result); err != nil {
		return nil, err
	}
	return result, nil
}

// send makes a call as it is and does not count it.
func (t *T) send(caller calls.Caller, call *calls.Call, name string) (*calls.Result, error) {
	if calls.IsBare(caller) && call.Out == nil && len(call.Op.Outputs) > 0 {
		return nil, fmt.Errorf("%s: the backend needs arrays for its outputs", name)
	}
	if t.CurrentRow().Hung {
		return nil, errHung
	}
	result, err := caller.Call(t.Ctx, call)
	if err != nil {
		return nil, t.Crashed(call, name, err)
	}
	if reason := cmp.Or(result.Unsupported, t.Misplaced(caller, result.Error)); reason != "" {
		return nil, t.Inexpressible(reason)
	}
	return result, nil
}

// Inexpressible records why a call could not be made, and ends its case.
func (t *T) Inexpressible(reason string) error {
	t.CurrentRow().Unsupported = reason
	return ErrAccounted
}

// Crashed records that the process died, if that is what an error says; other errors are returned as they are.
func (t *T) Crashed(call *calls.Call, name string, err error) error {
	var crash *rpc.CrashError
	if !errors.As(err, &crash) {
		return err
	}
	text, _ := crashText(err)
	t.FailBecause(crashCause(crash), call, name, "%s", text+rangeHint(call))
	r := t.CurrentRow()
	r.Died++
	if crash.Hung {
		r.Hung = true
		return errHung
	}
	return ErrAccounted
}

// PlainCall is the plain call of a case for a caller: the backend gets arrays for its outputs.
func (t *T) PlainCall(caller calls.Caller, c *cases.Case) (*calls.Call, error) {
	call := calls.New(c)
	if !calls.IsBare(caller) {
		return call, nil
	}
	var err error
	if call.Out, err = calls.PoisonedOutputs(c, true); err != nil {
		return nil, err
	}
	return call, call.AddScratch(caller, c)
}

// RunCase runs the plain call of a case and expects results.
func (t *T) RunCase(caller calls.Caller, c *cases.Case) (*calls.Call, *calls.Result, error) {
	call, result, err := t.Uncounted(caller, c)
	if err == nil {
		t.CurrentRow().Checked++
	}
	return call, result, err
}

// Uncounted is right for calls that only give something to compare with: they do not count as what the check is about.
func (t *T) Uncounted(caller calls.Caller, c *cases.Case) (*calls.Call, *calls.Result, error) {
	call, err := t.PlainCall(caller, c)
	if err != nil {
		return nil, nil, err
	}
	result, err := t.attempt(caller, call, c.Name)
	if err != nil {
		return nil, nil, err
	}
	if result = t.ExpectSuccessBy(caller, call, c.Name, result); result == nil {
		return nil, nil, ErrAccounted
	}
	return call, result, nil
}

// RunBaseline is the result of Uncounted.
func (t *T) RunBaseline(caller calls.Caller, c *cases.Case) (*calls.Result, error) {
	_, result, err := t.Uncounted(caller, c)
	return result, err
}
