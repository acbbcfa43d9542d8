package conformance

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/rpc"
)

// plantedCallers are mutants of the library as its own callers see it: each check named must fail.
var plantedCallers = map[string]struct {
	op, caller, check string
	fake              fake
}{
	"a mangled call crashes": {"affine", nativeName, "random-calls", fake{before: func(c *Call) (*Result, error) {
		if strings.HasPrefix(c.Probe, groupMangled) {
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		return nil, nil
	}}},
	"a mangled call says nothing of ours": {"affine", nativeName, "random-calls", fake{after: func(c *Call, r *Result) {
		if strings.HasPrefix(c.Probe, groupMangled) {
			r.Error = &CallError{Class: "RuntimeError", Text: "std::bad_alloc"}
		}
	}}},
	"nonsense computes":       {"affine", nativeName, "random-calls", fake{before: deaf("expected")}},
	"overlap computes":        {"accumulate", nativeName, "random-calls", fake{before: deaf("overlapping memory")}},
	"right calls are refused": {"affine", nativeName, "random-calls", fake{after: onRight(func(r *Result) { r.Error = &CallError{Class: "ValueError"} })}},
	"few calls compute":       {"affine", nativeName, "random-calls", fake{after: onRight(func(r *Result) { r.Launches = 0 })}},
	"a guard is overwritten":  {"affine", nativeName, "random-calls", fake{after: func(c *Call, r *Result) { scribble(c, r, -1) }}},
	"an unknown kind computes": {"affine", opCallName, "op-call", fake{before: func(c *Call) (*Result, error) {
		if strings.HasPrefix(c.Probe, groupRefusals) {
			return &Result{Outputs: make([]Output, 1)}, nil
		}
		return nil, nil
	}}},
	"an unknown kind is a riddle": {"affine", opCallName, "op-call", fake{after: func(c *Call, r *Result) {
		if strings.HasPrefix(c.Probe, groupRefusals) {
			r.Error.Text = "Check failed: (kind < count) is false"
		}
	}}},
	"a foreign array is misread": {"affine", opCallName, "mixed", fake{after: when(func(c *Call) bool {
		return strings.HasPrefix(c.Probe, groupMixed)
	})}},
	"a missing device computes": {"affine", backendName, "no-device", fake{before: func(c *Call) (*Result, error) {
		if allOn(c, "cuda:0") {
			return &Result{Outputs: make([]Output, 1)}, nil
		}
		return nil, nil
	}}},
	"a missing device is a riddle": {"affine", backendName, "no-device", fake{after: func(c *Call, r *Result) {
		if allOn(c, "cuda:0") {
			r.Error.Text = "CUDA error 35"
		}
	}}},
}

func TestPlantedCallersAreFound(t *testing.T) {
	for name, fault := range plantedCallers {
		t.Run(name, func(t *testing.T) {
			caller := fault.fake
			caller.name = fault.caller
			if status := fakeRunOf(t, fault.op, fault.check, &caller, nil); !strings.Contains(status, "fail: ") {
				t.Error(status)
			}
		})
	}
}

// onRight changes what right calls give.
func onRight(change func(*Result)) func(*Call, *Result) {
	return func(_ *Call, r *Result) {
		if r.Error == nil {
			change(r)
		}
	}
}
