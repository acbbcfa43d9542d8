// Package gradients has the checks of derivatives: their values come from the gradient op of the definition.
package gradients

import "github.com/opcast/opcast/conformance/internal/check"

// Checks are about derivatives.
func Checks() []check.Check {
	return []check.Check{
		gradCheck,
		gradSomeCheck,
		gradCotangentsCheck,
		gradFunctionalCheck,
		gradEmptyCheck,
		gradSecondCheck,
		forwardModeCheck,
		checkpointCheck,
		checkpointSavedCheck,
		jacobianCheck,
		functionalCallCheck,
	}
}
