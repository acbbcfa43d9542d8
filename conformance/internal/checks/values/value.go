package values

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var valueCheck = check.Check{
	ID: "value", Group: check.GroupValues, Profile: check.ProfileFast,
	Doc:     "results are those of the float64 reference within the derived tolerance",
	Foreign: check.Judges, Run: CheckValue,
}

// CheckValue compares the results of every plan with the reference.
func CheckValue(t *check.T) error {
	err := t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, t.ExpectCaseValues)
	if err == nil && calls.IsBare(t.Caller) && t.Env.Foreign == nil {
		t.ExpectKernelsReached()
	}
	return err
}
