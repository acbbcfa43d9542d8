package refusals

import (
	"bytes"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
)

var sideEffectsCheck = check.Check{
	ID: "side-effects", Group: check.GroupErrors, Generated: true,
	Doc:     "a refused call changes nothing, and the next call works",
	Foreign: check.Judges, Run: checkSideEffects,
}

// checkSideEffects makes the invalid calls again: no argument changes, no kernel starts, and a valid call still works.
func checkSideEffects(t *check.T) error {
	err := t.EachInvalidCall(func(_ invalid.Change, call *calls.Call, name string, result *calls.Result) {
		for i, x := range call.Tensors() {
			if x.Device == "" && result.Buffers[i] != nil && !bytes.Equal(x.Data, result.Buffers[i]) {
				t.Fail(call, name, "array argument %d was changed", i)
			}
		}
		if result.Launches != 0 {
			t.Fail(call, name, "started %d kernels before %v", result.Launches, result.Error)
		}
	})
	if err != nil {
		return err
	}
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	return t.ExpectCaseValues(c)
}
