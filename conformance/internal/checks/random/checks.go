// Package random has the checks that make calls at random, valid and invalid ones, and shrink what fails.
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
