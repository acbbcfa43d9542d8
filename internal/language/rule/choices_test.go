package rule_test

import (
	"testing"

	"github.com/opcast/opcast/internal/language/rule"
)

// chosen has choices at the top of a dim, inside of one, and in a let.
const chosen = `doc = "Choose dims."
kind = 0
dtypes = { T = ["f32"] }
inputs = [
  { name = "x", type = "T[N, (2 if gated else 1)*D]", doc = "Rows." },
  { name = "y", type = "T[S if layout == 'NHD' else H, H if layout == 'NHD' else S]", doc = "Slots." },
  { name = "z", type = "T[W, 2*(S if gated else H)]", doc = "Checked." },
]
attrs = [
  { name = "gated",  type = "bool", default = true, doc = "Gate." },
  { name = "layout", type = "str", default = "NHD", one_of = ["NHD", "HND"], doc = "Order." },
]
let.W = "D if gated else D + 1"
outputs = [{ name = "v", type = "T[D, S, H]", doc = "Sizes." }]
reference = "return x"
`

// Sizes follow from the side of a choice that the attributes take, wherever the choice stands.
func TestChosenDims(t *testing.T) {
	program := rule.Compile(loadOp(t, chosen))
	for _, c := range []struct {
		gated   bool
		layout  string
		x, y, z []int64
		want    map[string]int64
		error   string
	}{
		{true, "NHD", []int64{4, 6}, []int64{5, 7}, []int64{3, 10}, map[string]int64{"D": 3, "S": 5, "H": 7}, ""},
		{false, "NHD", []int64{4, 5}, []int64{5, 7}, []int64{6, 14}, map[string]int64{"D": 5, "S": 5, "H": 7}, ""},
		{false, "HND", []int64{4, 5}, []int64{5, 7}, []int64{6, 10}, map[string]int64{"D": 5, "S": 7, "H": 5}, ""},
		{true, "NHD", []int64{4, 5}, []int64{5, 7}, []int64{3, 10}, nil, "window: x: expected dimension 1 to be of the form (2 if gated else 1)*D, got shape [4, 5]"},
		{false, "NHD", []int64{4, 5}, []int64{5, 7}, []int64{6, 10}, nil, "window: z: expected dimension 1 to be 14 (H = 7 of y), got shape [6, 10]"},
	} {
		value := func(shape []int64) rule.Value {
			return rule.Value{Given: true, DType: "float32", Device: "cpu", Shape: shape}
		}
		env, err := program.Evaluate(rule.Call{
			Framework: "array", Inputs: map[string]rule.Value{"x": value(c.x), "y": value(c.y), "z": value(c.z)},
			Attrs: map[string]any{"gated": c.gated, "layout": c.layout},
		})
		if err != nil || c.error != "" {
			if err == nil || err.Text != c.error {
				t.Errorf("%+v: got %v", c, err)
			}
			continue
		}
		for name, want := range c.want {
			if got, _ := env.Int(name); got != want {
				t.Errorf("%+v: %s = %d, want %d", c, name, got, want)
			}
		}
	}
}
