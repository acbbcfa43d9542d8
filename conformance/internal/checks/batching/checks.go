// Package batching has the checks of vmap and of loops: an op over the slices of its arguments.
package batching

import "github.com/opcast/opcast/conformance/internal/check"

// Checks are about vmap.
func Checks() []check.Check {
	return []check.Check{
		vmapCheck,
		vmapNestedCheck,
		vmapEmptyCheck,
		scanCheck,
		vmapOfGradCheck,
		gradOfVmapCheck,
	}
}
