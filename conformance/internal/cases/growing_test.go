package cases

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// Before the last number along a dimension that is summed up are zeros, also where an input has more of them, and where it has other
// dimensions; what lacks it, has a range, or holds integers stays.
func TestOnlyLast(t *testing.T) {
	const text = `doc = "Sum."
kind = 0
dtypes = { T = ["f32", "bf16"] }
inputs = [
  { name = "x", type = "T[*, N, M]", doc = "Summed over N." },
  { name = "pairs", type = "T[2 * N]", doc = "Two for each." },
  { name = "scale", type = "T[N]", min = 1.0, max = 2.0, doc = "No zeros." },
  { name = "ids", type = "i32[N]", min = 0, max = 9, doc = "Integers." },
  { name = "bias", type = "T[M]", doc = "Added." },
]
outputs = [{ name = "y", type = "T[*, M]", doc = "Some." }]
reference = "return xp.sum(x, axis=-2) + bias"
`
	p := loadtest.Load(t, tooltest.Project(t, "sums", text))
	plan := BasePlan(DTypes{"T": "bf16"})
	plan.Batch, plan.Sizes = []int64{3}, map[string]int64{"N": 4, "M": 2}
	c, err := New(p.Ops[0], plan)
	if err != nil {
		t.Fatal(err)
	}
	if c.OnlyLast("*") != nil {
		t.Error("rows along * are independent")
	}
	given, last := c, c.OnlyLast("N")
	for i, kept := range []func(flat int) bool{
		func(flat int) bool { return flat/2%4 == 3 },
		func(flat int) bool { return flat == 7 },
		func(int) bool { return true },
		func(int) bool { return true },
		func(int) bool { return true },
	} {
		want := slices.Clone(given.Inputs[i].Floats())
		for flat := range want {
			if !kept(flat) {
				want[flat] = 0
			}
		}
		if got := last.Inputs[i].Floats(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", c.Op.Inputs[i].Name, got, want)
		}
	}
}
