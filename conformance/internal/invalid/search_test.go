package invalid_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// A condition over a few of many sizes is broken, and one that another implies ends the search.
func TestConditionsOfManySizes(t *testing.T) {
	p := loadtest.Load(t, tooltest.Project(t, "many", `doc = "A."
kind = 0
dtypes = { T = ["f32"] }
let.P = "(A + 2*pad - B) // step + 1"
let.Q = "(C + 2*pad - D) // step + 1"
inputs = [{ name = "x", type = "T[G, H, A, C, E]", doc = "A." }, { name = "w", type = "T[I, H2, B, D, F, J]", doc = "A." }]
attrs = [
  { name = "pad", type = "int", default = 0, min = 0, doc = "A." },
  { name = "step", type = "int", default = 1, min = 1, doc = "A." },
  { name = "groups", type = "int", default = 1, min = 1, doc = "A." },
]
outputs = [{ name = "y", type = "T[G, I, P, Q]", doc = "A." }]
require = ["H == H2*groups", "I % groups == 0", "P > 0", "Q > 0"]
reference = "return x"
`))
	op := p.Ops[0]
	c, err := cases.New(op, cases.BasePlan(cases.DTypes{"T": "f32"}))
	if err != nil {
		t.Fatal(err)
	}
	var broken []string
	for _, change := range invalid.Sizes(c, rule.Compile(op)) {
		broken = append(broken, strings.TrimPrefix(change.Kind, "condition "))
	}
	want := []string{"H == H2*groups", "I % groups == 0", "P > 0", "Q > 0"} // P and Q are positive, and so not negative
	if !slices.Equal(broken, want) {
		t.Errorf("broken are %q, want %q", broken, want)
	}
}
