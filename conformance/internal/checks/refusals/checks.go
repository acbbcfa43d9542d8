// Package refusals has the checks of calls that must be refused, by the right class and in the right words.
package refusals

import "github.com/opcast/opcast/conformance/internal/check"

// Checks are about calls that must be refused.
func Checks() []check.Check {
	return []check.Check{
		errorsCheck,
		callShapeCheck,
		listsCheck,
		precedenceCheck,
		sideEffectsCheck,
		warningsCheck,
		malformedCheck,
		opCallCheck,
		noDeviceCheck,
		noKernelCheck,
		devicesCheck,
		specialInputsCheck,
		contentsRefusedCheck,
	}
}
