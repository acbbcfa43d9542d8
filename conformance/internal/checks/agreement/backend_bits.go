package agreement

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

// expectBackendBits compares a caller's bits, in every mode, with those of the bare export.
func expectBackendBits(t *check.T, c *cases.Case) error {
	backend := t.Env.Caller(calls.BackendName)
	if backend == nil {
		return check.Skip("the backend cannot be called")
	}
	want, err := t.RunBaseline(backend, c)
	if err != nil {
		return err
	}
	for _, mode := range calls.Modes(t.Caller) {
		call := calls.New(c)
		call.Mode = mode
		got, err := t.Call(call, c.Name)
		if err != nil {
			return err
		}
		if got = t.ExpectSuccess(call, c.Name+", "+mode, got); got != nil {
			t.ExpectSameBits(call, c.Name+", "+mode, got, want)
			t.ExpectLaunchOfKernel(call, c, got)
		}
	}
	return nil
}
