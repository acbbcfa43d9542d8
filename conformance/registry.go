package conformance

import (
	"slices"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/conformance/checks/agreement"
	"github.com/opcast/opcast/conformance/checks/batching"
	"github.com/opcast/opcast/conformance/checks/definitions"
	"github.com/opcast/opcast/conformance/checks/endurance"
	"github.com/opcast/opcast/conformance/checks/gradients"
	"github.com/opcast/opcast/conformance/checks/memory"
	"github.com/opcast/opcast/conformance/checks/random"
	"github.com/opcast/opcast/conformance/checks/refusals"
	"github.com/opcast/opcast/conformance/checks/sharding"
	"github.com/opcast/opcast/conformance/checks/transforms"
	"github.com/opcast/opcast/conformance/checks/values"
)

// Checks lists every check of the suite, in the order of reports.
func Checks() []check.Check {
	return slices.Concat(
		values.Checks(), random.Checks(), memory.Checks(), refusals.Checks(), agreement.Checks(), endurance.Checks(),
		transforms.Checks(), batching.Checks(), gradients.Checks(), sharding.Checks(), definitions.Checks(),
	)
}

// ChecksOf are the checks that run through a caller; functions says that it calls functions in the place of a library.
func ChecksOf(caller calls.Caller, functions bool) []check.Check {
	return slices.DeleteFunc(Checks(), func(c check.Check) bool { return !c.RunsThrough(caller.Name(), functions) })
}
