// Package memory has the checks of where arrays lie: strides, alignment, overwritten inputs, out=, scratch.
package memory

import "github.com/opcast/opcast/conformance/internal/check"

// Checks are about where arrays lie and what happens to them there.
func Checks() []check.Check {
	list := []check.Check{
		inputsUnchangedCheck,
		mutatedCheck,
		sideBySideCheck,
		freshOutputsCheck,
		sameObjectCheck,
		versionCheck(),
		staleCheck,
		gradientWrittenCheck,
		unwritableCheck,
		donationCheck,
		scratchCheck,
		outCheck,
	}
	list = append(list, layoutChecks()...)
	return append(list, misalignedCheck, notCopiedCheck, edgesCheck, farApartCheck)
}
