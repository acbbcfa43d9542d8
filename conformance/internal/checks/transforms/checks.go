// Package transforms has the checks of ops that a framework compiles, exports or inspects.
package transforms

import "github.com/opcast/opcast/conformance/internal/check"

// Checks are about compiling, exporting and inspecting ops.
func Checks() []check.Check {
	return []check.Check{
		jitCheck,
		inductorCheck,
		dynamicCheck,
		exportCheck,
		x64Check,
		abstractCheck,
		dispatchModesCheck,
		flopsCheck,
		opcheckCheck,
		profileCheck,
		autocastCheck,
		transformedErrorsCheck,
		outputStridesCheck,
	}
}
