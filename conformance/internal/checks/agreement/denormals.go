package agreement

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var denormalsCheck = check.Check{
	ID: "denormals", Group: check.GroupAcross, Generated: true,
	Doc:   "denormal inputs give the bits of the bare backend",
	Needs: check.NotBackend, Foreign: check.ComparedWithBackend, Run: checkDenormals,
}

// checkDenormals uses inputs below the smallest normal number: a framework that flushes them to zero would change bits.
func checkDenormals(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return []cases.Plan{cases.DenormalPlan(t.Op, d)} }, func(c *cases.Case) error { return expectBackendBits(t, c) })
}
