package random

import "github.com/opcast/opcast/conformance/internal/check"

// Checks are about calls that are made at random.
func Checks() []check.Check {
	return []check.Check{
		randomShapesCheck,
		randomShapesMoreCheck,
		randomCallsCheck,
	}
}
