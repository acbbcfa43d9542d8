package cases

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// Packed numbers are in all places of an element, also in the highest bits, and scales without a sign are numbers.
func TestPackedContents(t *testing.T) {
	const text = `doc = "Unpack."
kind = 0
dtypes = { Q = ["i32", "u8"] }
inputs = [
  { name = "q", type = "Q[N]", packs = "f4e2m1fn", doc = "Numbers." },
  { name = "scale", type = "f8e8m0fnu[N]", doc = "Scales." },
]
outputs = [{ name = "y", type = "f32[N]", doc = "Some." }]
reference = "return q[::8] * scale"
`
	p := loadtest.Load(t, tooltest.Project(t, "unpack", text))
	plan := BasePlan(DTypes{"Q": "i32"})
	plan.Sizes = map[string]int64{"N": 100}
	c, err := New(p.Ops[0], plan)
	if err != nil {
		t.Fatal(err)
	}
	given := c.Given(0)
	if given.DType.Short != "f32" || !slices.Equal(given.Shape, []int64{800}) {
		t.Fatalf("got %s%v", given.DType.Short, given.Shape)
	}
	for place := range 8 {
		seen := map[float64]bool{}
		for i, v := range given.Floats() {
			if i%8 == place {
				seen[v] = true
			}
		}
		if len(seen) != 15 { // 0 is -0
			t.Errorf("place %d has %d numbers", place, len(seen))
		}
	}
	for _, v := range c.Inputs[1].Floats() {
		if !(v > 0) {
			t.Fatalf("a scale is %v", v)
		}
	}
}
