package run

import (
	"cmp"
	"testing"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/definitions"
)

// The catalogue has what ran, in the order of the suite; what is in none of its lists comes last.
func TestChecksOfTheReport(t *testing.T) {
	list := Checks()
	got := described([]Cell{
		{Checks: []check.Check{{ID: "alone", Group: check.GroupValues, Doc: "d"}, definitions.Checks()[0]}}, {Checks: []check.Check{list[3], list[2], list[3]}},
	})
	want := []string{list[2].ID, list[3].ID, definitions.Checks()[0].ID, "alone"}
	profiles := map[string]string{list[3].ID: check.ProfileFast, definitions.Checks()[0].ID: check.ProfileFast}
	for i, id := range want {
		profile := cmp.Or(profiles[id], check.ProfileCore)
		if len(got) != len(want) || got[i].ID != id || got[i].Doc == "" || got[i].Profile != profile {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}
