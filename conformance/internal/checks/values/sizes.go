package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var sizesCheck = check.Check{
	ID: "sizes", Group: check.GroupShapes, Generated: true, Profile: check.ProfileFast,
	Doc:     "size 1, primes, one past a tile, long rows, and the values of a kernel's parameters give what the reference gives",
	Foreign: check.Judges, Run: check.WithKernelsOnly(checkSizes),
}

func checkSizes(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.SizePlans(t.Op, t.RowKernel(), d) }, t.ExpectCaseValues)
}
