package invalid_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
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

// A dim that needs a size of a later input is checked with that one.
func TestDimOfALaterSize(t *testing.T) {
	p := loadtest.Load(t, tooltest.Project(t, "half", `doc = "A."
kind = 0
inputs = [{ name = "x", type = "f32[*, N // 2 + 1, M]", doc = "A." }, { name = "w", type = "f32[*, N]", doc = "A." }]
outputs = [{ name = "y", type = "f32[*, N]", doc = "A." }]
reference = "return w"
`))
	c, err := cases.New(p.Ops[0], cases.BasePlan(nil))
	if err != nil {
		t.Fatal(err)
	}
	phase := map[string]int{}
	for _, change := range invalid.Arguments(c, calls.Definition{}, "cpu") {
		phase[change.Arg+" "+change.Kind] = change.Phase
	}
	rank := len(c.Inputs[0].Shape)
	half, last := phase[fmt.Sprintf("x dim [%d]", rank-2)], phase[fmt.Sprintf("x dim [%d]", rank-1)]
	if w := phase["w dim [0]"]; half != w || last >= w || phase["x dim [0]"] != last {
		t.Errorf("phases %v, want N // 2 + 1 of x with the dims of w, and the others of x before them", phase)
	}
}
