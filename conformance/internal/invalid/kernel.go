package invalid

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// ErrorClasses are the classes with which an op may refuse a special input.
var ErrorClasses = []string{"TypeError", "ValueError", "NotImplementedError"}

// OutputChanges are the changes of output arrays. A call without outputs gets the other, valid ones along with the
// changed one.
func OutputChanges(c *cases.Case, caller calls.Caller, device string) ([]Change, error) {
	wrong, err := Outputs(c, caller, device)
	if err != nil {
		return nil, err
	}
	for i, f := range wrong {
		fit, err := calls.PoisonedOutputs(c, calls.IsBare(caller))
		if err != nil {
			return nil, err
		}
		wrong[i].edit = func(call *calls.Call) {
			if call.Out == nil {
				call.Out = slices.Clone(fit)
			}
			f.edit(call)
		}
	}
	return wrong, nil
}

// WithoutKernelChange puts everything on a device that the op has no kernel for.
func WithoutKernelChange(op *opdef.Op, device string) Change {
	other := "cuda:0"
	if device != "cpu" {
		other = "cpu"
	}
	text := op.Name + ": no kernel for device " + other + ", available: " + cases.KindOf(device)
	return Change{
		Kind: "no kernel", Phase: phaseKernel, Alone: true, Expected: &rule.Error{Class: "NotImplementedError", Text: text},
		edit: func(call *calls.Call) { call.MoveTo(other) },
	}
}
