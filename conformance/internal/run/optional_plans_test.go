package run

import (
	"fmt"
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/cases"
)

// Frameworks are not asked what they make of calls that give nothing back: such an input stays in the plans.
func TestOptionalPlansGiveResults(t *testing.T) {
	const (
		x        = `  { name = "x", type = "f32[N]", doc = "An input." },` + "\n"
		one      = `  { name = "one", type = "f32[N]", doc = "An input.", optional = true%s },` + "\n"
		two      = `  { name = "two", type = "f32[N]", doc = "An input.", optional = true },` + "\n"
		y        = `outputs = [{ name = "y", type = "f32[N]", doc = "A result."%s }]`
		ofOne    = `, present_if = "one"`
		replaced = ", mutated = true"
	)
	for name, c := range map[string]struct {
		inputs, outputs string
		want            []string
	}{
		"a result in every call":                  {x + fmt.Sprintf(one, "") + two, fmt.Sprintf(y, ""), []string{"", "one", "two"}},
		"a result of an optional input":           {x + fmt.Sprintf(one, "") + two, fmt.Sprintf(y, ofOne), []string{"", "two"}},
		"an overwritten input and a result of it": {x + fmt.Sprintf(one, replaced), fmt.Sprintf(y, ofOne), []string{""}},
	} {
		var got []string
		for _, p := range cases.OptionalPlans(written(t, c.inputs, "", c.outputs), cases.DTypes{}) {
			got = append(got, append(p.Without, "")[0])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: left out %q, want %q", name, got, c.want)
		}
	}
}
