package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

// contentsCheck fills inputs that declare a range with its lowest value, with its highest, and with values from one to the
// other: ragged rows that are all empty, that begin behind others, that fill their memory.
var contentsCheck = check.Check{
	ID: "contents", Group: check.GroupValues, Profile: check.ProfileFast,
	Doc:   "values at both ends of their declared range, and ragged rows of all kinds, give what the reference gives",
	Needs: check.HasContents, Foreign: check.Judges,
	Run: check.WithFewerDTypes(func(t *check.T) error { return t.EachCase(cases.ContentPlans, t.ExpectCaseValues) }),
}
