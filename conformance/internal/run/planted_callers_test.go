package run

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/checks/agreement"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/conformance/internal/checks/refusals"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/system/rpc"
)

// plantedCallers are mutants of the library as its own callers see it: each check named must fail.
var plantedCallers = map[string]struct {
	op, caller, check string
	fake              fake.Framework
}{
	"a mangled call crashes": {"affine", calls.NativeName, "random-calls", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if strings.HasPrefix(c.Probe, random.GroupCorrupt) {
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		return nil, nil
	}}},
	"a mangled call says nothing of ours": {"affine", calls.NativeName, "random-calls", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if strings.HasPrefix(c.Probe, random.GroupCorrupt) {
			r.Error = &calls.CallError{Class: "RuntimeError", Text: "std::bad_alloc"}
		}
	}}},
	"nonsense computes":       {"affine", calls.NativeName, "random-calls", fake.Framework{Before: ignoreRule("expected")}},
	"overlap computes":        {"accumulate", calls.NativeName, "random-calls", fake.Framework{Before: ignoreRule("overlapping memory")}},
	"valid calls are refused": {"affine", calls.NativeName, "random-calls", fake.Framework{After: onRight(func(r *calls.Result) { r.Error = &calls.CallError{Class: "ValueError"} })}},
	"few calls compute":       {"affine", calls.NativeName, "random-calls", fake.Framework{After: onRight(func(r *calls.Result) { r.Launches = 0 })}},
	"a guard is overwritten":  {"affine", calls.NativeName, "random-calls", fake.Framework{After: func(c *calls.Call, r *calls.Result) { scribble(c, r, -1) }}},
	"an unknown kind computes": {"affine", calls.OpCallName, "op-call", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if strings.HasPrefix(c.Probe, refusals.GroupRefusals) {
			return &calls.Result{Outputs: make([]calls.Output, 1)}, nil
		}
		return nil, nil
	}}},
	"an unknown kind is a riddle": {"affine", calls.OpCallName, "op-call", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if strings.HasPrefix(c.Probe, refusals.GroupRefusals) {
			r.Error.Text = "Check failed: (kind < count) is false"
		}
	}}},
	"a foreign array is misread": {"affine", calls.OpCallName, "mixed", fake.Framework{After: when(func(c *calls.Call) bool {
		return strings.HasPrefix(c.Probe, agreement.GroupMixed)
	})}},
	"a missing device computes": {"affine", calls.BackendName, "no-device", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if fake.AllOn(c, "cuda:0") {
			return &calls.Result{Outputs: make([]calls.Output, 1)}, nil
		}
		return nil, nil
	}}},
	"a missing device is a riddle": {"affine", calls.BackendName, "no-device", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if fake.AllOn(c, "cuda:0") {
			r.Error.Text = "CUDA error 35"
		}
	}}},
}

func TestPlantedCallersAreFound(t *testing.T) {
	for name, planted := range plantedCallers {
		t.Run(name, func(t *testing.T) {
			caller := planted.fake
			caller.CallerName = planted.caller
			if status := fakeRunOf(t, planted.op, planted.check, &caller, nil); !strings.Contains(status, "fail: ") {
				t.Error(status)
			}
		})
	}
}

// onRight changes what valid calls give.
func onRight(change func(*calls.Result)) func(*calls.Call, *calls.Result) {
	return func(_ *calls.Call, r *calls.Result) {
		if r.Error == nil {
			change(r)
		}
	}
}
