package rule_test

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// lists has rules of every kind about the arrays of lists.
const lists = `doc = "Join rows."
kind = 0
dtypes = { T = ["f32", "f16"] }
inputs = [
  { name = "xs", type = "T[n, D]", list = true, doc = "Rows." },
  { name = "ws", type = "T[2*n]", list = true, doc = "Weights." },
  { name = "ps", type = "f32[*]", list = true, mutated = true, doc = "Parameters." },
  { name = "gs", type = "f32[*, 3*k]", list = true, doc = "Gradients." },
  { name = "lens", type = "i32[len(xs)]", doc = "Lengths." },
  { name = "table", type = "T[sum(n) + len(gs), D]", doc = "Sizes of all arrays." },
]
attrs = [{ name = "most", type = "int", default = 100, doc = "A bound." }]
let.total = "sum(n) - 1"
require = ["sum(n) <= most", "len(xs) * 10 <= most and total < most", "sum(n) != 2 * sum(k)"]
outputs = [
  { name = "y", type = "T[sum(n) - 3, D]", doc = "All rows." },
  { name = "ys", type = "f32[*, k]", list = "ps", doc = "Of each." },
]
reference = "return x"
`

// joined is a valid call of lists, with two arrays each, without outputs.
func joined() rule.Call {
	return rule.Call{
		Framework: "numpy.ndarray",
		Inputs: map[string]rule.Value{
			"xs[0]": array("float32", 4, 5), "xs[1]": array("float32", 3, 5), "ws[0]": array("float32", 8), "ws[1]": array("float32", 6),
			"ps[0]": array("float32", 2, 2), "ps[1]": array("float32"), "gs[0]": array("float32", 2, 2, 6), "gs[1]": array("float32", 9),
			"lens": array("int32", 2), "table": array("float32", 9, 5),
		},
		Attrs: map[string]any{},
	}
}

// outputs of joined.
func results() map[string]rule.Value {
	return map[string]rule.Value{"y": array("float32", 4, 5), "ys[0]": array("float32", 2, 2, 2), "ys[1]": array("float32", 3)}
}

// TestLists: what a wrong array of a list is told: its number, and which array of which list tells the size that it should have.
func TestLists(t *testing.T) {
	op := loadOp(t, lists).Instance(func(string) int { return 2 })
	in := func(name string, v rule.Value) func(*rule.Call) {
		return func(c *rule.Call) { c.Inputs[name] = v }
	}
	attr := func(v int64) func(*rule.Call) { return func(c *rule.Call) { c.Attrs["most"] = v } }
	out := func(name string, v rule.Value) func(*rule.Call) {
		return func(c *rule.Call) { c.Out[name] = v }
	}
	device := array("float32", 6)
	device.Device = "cuda:0"
	shared, within := array("float32", 2, 2), array("float32")
	shared.Buffer, within.Buffer, within.Offset = "one", "one", 3
	for _, tc := range []struct {
		name  string
		wrong func(*rule.Call)
		want  string
	}{
		{"valid", func(*rule.Call) {}, ""},
		{"missing", in("ws[1]", rule.Value{}), "TypeError: window: missing required argument 'ws[1]'"},
		{"no array", in("xs[1]", rule.Value{Given: true, NotArray: "int"}), "TypeError: window: xs[1]: expected numpy.ndarray, got int"},
		{"device", in("ws[1]", device), "ValueError: window: ws[1]: expected device cpu (as xs[0]), got cuda:0"},
		{"dtype", in("xs[0]", array("int32", 4, 5)), "TypeError: window: xs[0]: expected dtype float32 or float16, got int32"},
		{"dtype of the first", in("xs[1]", array("float16", 3, 5)), "TypeError: window: xs[1]: expected dtype float32 (as xs[0]), got float16"},
		{"rank", in("xs[1]", array("float32", 3)), "ValueError: window: xs[1]: expected 2 dimensions, got shape [3]"},
		{"size of the first", in("xs[1]", array("float32", 3, 6)), "ValueError: window: xs[1]: expected dimension 1 to be 5 (D = 5 of xs[0]), got shape [3, 6]"},
		{"size of another", in("ws[1]", array("float32", 8)), "ValueError: window: ws[1]: expected dimension 0 to be 6 (n = 3 of xs[1]), got shape [8]"},
		{"form", in("gs[1]", array("float32", 8)), "ValueError: window: gs[1]: expected dimension 0 to be of the form 3*k, got shape [8]"},
		{"leading dims of another", in("gs[1]", array("float32", 1, 9)), "ValueError: window: gs[1]: expected leading dimensions [] (as ps[1]), got shape [1, 9]"},
		{"leading dims of the first", in("gs[0]", array("float32", 2, 6)), "ValueError: window: gs[0]: expected leading dimensions [2, 2] (as ps[0]), got shape [2, 6]"},
		{"length", in("lens", array("int32", 3)), "ValueError: window: lens: expected dimension 0 to be 2 (len(xs) = 2), got shape [3]"},
		{"sum and length", in("table", array("float32", 7, 5)),
			"ValueError: window: table: expected dimension 0 to be 9 (len(gs) = 2, n = [4, 3] of xs), got shape [7, 5]"},
		{"broken sum", attr(6), "ValueError: window: expected sum(n) <= most, got most = 6, n = [4, 3]"},
		{"broken length", attr(19), "ValueError: window: expected len(xs) * 10 <= most and total < most, got most = 19, total = 6, len(xs) = 2"},
		{"sums of two lists", func(c *rule.Call) {
			c.Inputs["xs[0]"], c.Inputs["ws[0]"] = array("float32", 7, 5), array("float32", 14)
			c.Inputs["table"] = array("float32", 12, 5)
		}, "ValueError: window: expected sum(n) != 2 * sum(k), got k = [2, 3], n = [7, 3]"},
		{"negative output", func(c *rule.Call) {
			c.Inputs["xs[0]"], c.Inputs["xs[1]"], c.Inputs["table"] = array("float32", 1, 5), array("float32", 0, 5), array("float32", 3, 5)
			c.Inputs["ws[0]"], c.Inputs["ws[1]"] = array("float32", 2), array("float32", 0)
		}, "ValueError: window: output y would have a negative dimension: sum(n) - 3 = -2"},
		{"shape of an output", out("y", array("float32", 7, 5)), "ValueError: window: y: expected shape [4, 5], got shape [7, 5]"},
		{"shape of an output's array", out("ys[1]", array("float32", 2, 2, 2)), "ValueError: window: ys[1]: expected shape [3], got shape [2, 2, 2]"},
		{"dtype of an output", out("y", array("float16", 4, 5)), "TypeError: window: y: expected dtype float32 (as xs[0]), got float16"},
		{"overlap in one list", func(c *rule.Call) { c.Inputs["ps[0]"], c.Inputs["ps[1]"] = shared, within },
			"ValueError: window: ps[0]: expected memory apart from ps[1], got overlapping memory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := joined()
			c.Out = results()
			tc.wrong(&c)
			got := ""
			if f := rule.Check(op, c); f != nil {
				got = f.Class + ": " + f.Text
			}
			if got != tc.want {
				t.Errorf("\n%s, expected\n%s", got, tc.want)
			}
		})
	}
}

// TestListOrigin: attributes that choose between dims of one list leave no doubt which array tells a size, in the op as in
// its instances.
func TestListOrigin(t *testing.T) {
	op := loadOp(t, `doc = "Either way."
kind = 0
dtypes = { T = ["f32"] }
inputs = [
  { name = "xs", type = "T[S if flip else H, H if flip else S]", list = true, doc = "Rows." },
  { name = "w", type = "T[S, H]", doc = "Weights." },
]
attrs = [{ name = "flip", type = "bool", default = false, doc = "Which way." }]
outputs = [{ name = "y", type = "T[S, H]", doc = "The sum." }]
reference = "return w"
`)
	for _, p := range []*opdef.Op{op, op.Instance(func(string) int { return 2 })} {
		if got := rule.Compile(p).Origin; got["S"] != "xs[0]" || got["H"] != "xs[0]" {
			t.Errorf("S and H come from %v", got)
		}
	}
}

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

// The dtype of an input that is left out is the first one of its variable.
func TestDTypeOfAbsentInput(t *testing.T) {
	definition := strings.NewReplacer(`O = [`, `I = ["i32", "i64"], O = [`, `"T[*, D]", optional`, `"I[D]", optional`,
		`require = [`, `require = ["I == i32 or D % 2 == 0", `).Replace(window)
	for name, want := range map[string]string{
		"": "", "int32": "", "int64": "ValueError: window: expected I == i32 or D % 2 == 0, got D = 5, I = int64: cast y (or give it)",
		"float32": "TypeError: window: y: expected dtype int32 or int64, got float32",
	} {
		call, got := right(), ""
		delete(call.Inputs, "y")
		if name != "" {
			call.Inputs["y"] = array(name, 5)
		}
		if f := rule.Check(loadOp(t, definition), call); f != nil {
			got = f.Class + ": " + f.Text
		}
		if got != want {
			t.Errorf("y of %q: got %q, want %q", name, got, want)
		}
	}
}

// A bool is no dtype, though a dtype has its name.
func TestBoolForDType(t *testing.T) {
	op := loadOp(t, strings.Replace(window, `O = ["f32", "f16"]`, `O = ["bool", "f32", "f16"]`, 1))
	const refused = "TypeError: window: out_dtype: expected dtype bool, float32 or float16, got bool"
	for want, value := range map[string]any{"": "bool", refused: true} {
		call, got := right(), ""
		call.Attrs["out_dtype"] = value
		if f := rule.Check(op, call); f != nil {
			got = f.Class + ": " + f.Text
		}
		if got != want {
			t.Errorf("%v: got %q, want %q", value, got, want)
		}
	}
}
