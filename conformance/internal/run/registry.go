package run

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/agreement"
	"github.com/opcast/opcast/conformance/internal/checks/batching"
	"github.com/opcast/opcast/conformance/internal/checks/definitions"
	"github.com/opcast/opcast/conformance/internal/checks/endurance"
	"github.com/opcast/opcast/conformance/internal/checks/gradients"
	"github.com/opcast/opcast/conformance/internal/checks/memory"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/conformance/internal/checks/refusals"
	"github.com/opcast/opcast/conformance/internal/checks/sharding"
	"github.com/opcast/opcast/conformance/internal/checks/transforms"
	"github.com/opcast/opcast/conformance/internal/checks/values"
)

// Checks lists every check of the suite, in the order of reports.
func Checks() []check.Check {
	return slices.Concat(
		values.Checks(), random.Checks(), memory.Checks(), refusals.Checks(), agreement.Checks(), endurance.Checks(),
		transforms.Checks(), batching.Checks(), gradients.Checks(), sharding.Checks(), definitions.Checks(),
	)
}

// ChecksOf are the checks that run through a caller; functions says that it calls functions in the place of a library.
func ChecksOf(caller string, functions bool) []check.Check {
	return slices.DeleteFunc(Checks(), func(c check.Check) bool { return !c.RunsThrough(caller, functions) })
}
