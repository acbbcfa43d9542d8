package rule_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/rule"
)

const manifest = `name = "sample"
version = "0.1.0"
license = "MIT"
sources = ["csrc/cpu/*.cc"]
`

// window has at least one rule of every kind.
const window = `doc = "Sum windows of rows."
kind = 0
dtypes = { T = ["f32", "f16"], O = ["f32", "f16"] }
inputs = [
  { name = "x", type = "T[*, C, 2*D]", doc = "Rows." },
  { name = "w", type = "T[F, C//groups]", doc = "Weights." },
  { name = "ptr", type = "i32[D + 1]", doc = "Offsets." },
  { name = "y", type = "T[*, D]", optional = true, doc = "Partner." },
]
attrs = [
  { name = "eps", type = "float", default = 1e-6, min = 0, max = 1, doc = "Small." },
  { name = "groups", type = "int", default = 1, min = 1, doc = "Groups." },
  { name = "pad", type = "int[2]", default = 0, min = 0, doc = "Padding." },
  { name = "mode", type = "str", default = "a", one_of = ["a", "b"], doc = "Mode." },
  { name = "flag", type = "bool", default = false, doc = "Flag." },
  { name = "out_dtype", type = "dtype", binds = "O", default = "T", doc = "Result." },
]
let.P = "D - 3 + pad[0]"
require = ["C % groups == 0"]
outputs = [{ name = "z", type = "O[*, F, P]", doc = "Sums." }]
reference = "return x"
`

const tooLarge = "ValueError: window: a size does not fit in 64 bits"

// loadOp returns the op of a definition; its gradient op may come along.
func loadOp(t *testing.T, definition string, gradient ...string) *opdef.Op {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("opcast.toml", manifest)
	write("opdefs/window.toml", definition)
	for _, text := range gradient {
		write("opdefs/window_backward.toml", text)
	}
	write("csrc/cpu/window.cc", "")
	p, list, err := load.Load(dir)
	if err != nil || len(list) > 0 {
		t.Fatalf("load: %v %v", err, list)
	}
	return p.Ops[0]
}

func array(dtype string, shape ...int64) rule.Value {
	return rule.Value{Given: true, DType: dtype, Device: "cpu", Shape: shape}
}

// right is a call that keeps every rule; tests change one thing in it.
func right() rule.Call {
	return rule.Call{
		Framework: "numpy.ndarray",
		Inputs: map[string]rule.Value{
			"x": array("float32", 3, 4, 10), "w": array("float32", 6, 4), "ptr": array("int32", 6), "y": array("float32", 3, 5),
		},
		Attrs: map[string]any{},
	}
}

func TestGoldenText(t *testing.T) {
	op := loadOp(t, window)
	if f := rule.Check(op, right()); f != nil {
		t.Fatalf("valid call: %v", f)
	}
	in := func(name string, v rule.Value) func(*rule.Call) {
		return func(c *rule.Call) { c.Inputs[name] = v }
	}
	attr := func(name string, v any) func(*rule.Call) {
		return func(c *rule.Call) { c.Attrs[name] = v }
	}
	out := func(v rule.Value) func(*rule.Call) {
		return func(c *rule.Call) { c.Out = map[string]rule.Value{"z": v} }
	}
	other := array("float32", 6, 4)
	other.Device = "cuda:0"
	list := rule.Value{Given: true, NotArray: "list"}
	for _, tc := range []struct {
		name  string
		wrong func(*rule.Call)
		want  string
	}{
		{"missing", in("w", rule.Value{}), "TypeError: window: missing required argument 'w'"},
		{"not an array", in("w", list), "TypeError: window: w: expected numpy.ndarray, got list"},
		{"attr type", attr("eps", "a"), "TypeError: window: eps: expected float, got str"},
		{"bool for int", attr("groups", true), "TypeError: window: groups: expected int, got bool"},
		{"int for bool", attr("flag", int64(1)), "TypeError: window: flag: expected bool, got int"},
		{"at least", attr("eps", -0.5), "ValueError: window: eps: expected at least 0, got -0.5"},
		{"at most", attr("eps", int64(2)), "ValueError: window: eps: expected at most 1, got 2"},
		{"at most, as a float", attr("eps", int64(1)<<62), "ValueError: window: eps: expected at most 1, got 4.61169e+18"},
		{"int list length", attr("pad", []int64{1}), "ValueError: window: pad: expected 2 integers, got 1"},
		{"int list item", attr("pad", []int64{1, -1}), "ValueError: window: pad: expected at least 0, got -1"},
		{"one of", attr("mode", "c"), "ValueError: window: mode: expected one of 'a', 'b', got 'c'"},
		{"dtype attr", attr("out_dtype", "int8"), "TypeError: window: out_dtype: expected dtype float32 or float16, got int8"},
		{"device", in("w", other), "ValueError: window: w: expected device cpu (as x), got cuda:0"},
		{"dtype", in("x", array("int32", 3, 4, 10)), "TypeError: window: x: expected dtype float32 or float16, got int32"},
		{"fixed dtype", in("ptr", array("int64", 6)), "TypeError: window: ptr: expected dtype int32, got int64"},
		{"dtype as", in("w", array("float16", 6, 4)), "TypeError: window: w: expected dtype float32 (as x), got float16"},
		{"rank", in("w", array("float32", 4)), "ValueError: window: w: expected 2 dimensions, got shape [4]"},
		{"rank at least", in("x", array("float32", 10)), "ValueError: window: x: expected at least 2 dimensions, got shape [10]"},
		{"form", in("x", array("float32", 3, 4, 9)), "ValueError: window: x: expected dimension 2 to be of the form 2*D, got shape [3, 4, 9]"},
		{"expression", func(c *rule.Call) { c.Attrs["groups"] = int64(2) },
			"ValueError: window: w: expected dimension 1 to be 2 (C = 4 of x, groups = 2), got shape [6, 4]"},
		{"partner size", in("ptr", array("int32", 5)), "ValueError: window: ptr: expected dimension 0 to be 6 (D = 5 of x), got shape [5]"},
		{"leading", in("y", array("float32", 2, 5)), "ValueError: window: y: expected leading dimensions [3] (as x), got shape [2, 5]"},
		{"require", func(c *rule.Call) { c.Attrs["groups"] = int64(3); c.Inputs["w"] = array("float32", 6, 1) },
			"ValueError: window: expected C % groups == 0, got C = 4, groups = 3"},
		{"negative output", func(c *rule.Call) {
			c.Inputs["x"], c.Inputs["ptr"], c.Inputs["y"] = array("float32", 3, 4, 2), array("int32", 2), array("float32", 3, 1)
		}, "ValueError: window: output z would have a negative dimension: P = -2"},
		{"let beyond 64 bits", attr("pad", []int64{math.MaxInt64, 0}), tooLarge},
		{"size beyond 64 bits", in("x", array("float32", 3, 4, math.MaxInt64-1)), "ValueError: window: ptr: expected dimension 0 to be 4611686018427387904 (D = 4611686018427387903 of x), got shape [6]"},
		{"out dtype", out(array("float16", 3, 6, 2)), "TypeError: window: z: expected dtype float32, got float16"},
		{"out shape", out(array("float32", 3, 6, 3)), "ValueError: window: z: expected shape [3, 6, 2], got shape [3, 6, 3]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call := right()
			tc.wrong(&call)
			f := rule.Check(op, call)
			if f == nil {
				t.Fatalf("no error, want %s", tc.want)
			}
			if got := f.Class + ": " + f.Text; got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// Leading dims that are broadcast: the first input before that does not go with one is named.
func TestBroadcast(t *testing.T) {
	op := loadOp(t, `doc = "Sum of products."
kind = 0
dtypes = { T = ["f32"] }
inputs = [
  { name = "x", type = "T[..., N]", doc = "X." },
  { name = "y", type = "T[...]", doc = "Y." },
  { name = "w", type = "T[N]", doc = "W." },
  { name = "b", type = "T[..., N]", optional = true, doc = "B." },
]
outputs = [{ name = "z", type = "T[N]", doc = "Z." }, { name = "v", type = "T[..., N]", present_if = "b", doc = "V." }]
sums = ["..."]
reference = "return x, None"
`)
	const huge = int64(1) << 40
	for _, tc := range []struct {
		x, y, b []int64
		want    string
	}{
		{[]int64{4, 1, 3}, []int64{2}, nil, ""},
		{[]int64{3}, []int64{}, []int64{5, 1, 3}, ""},
		{[]int64{0, 3}, []int64{1}, []int64{3}, ""},
		{[]int64{4, 1, 3}, []int64{3, 3}, nil, "y: expected leading dimensions that broadcast with [4, 1] (of x), got shape [3, 3]"},
		{[]int64{0, 3}, []int64{2}, nil, "y: expected leading dimensions that broadcast with [0] (of x), got shape [2]"},
		{[]int64{4, 1, 3}, []int64{2}, []int64{3, 3}, "b: expected leading dimensions that broadcast with [2] (of y), got shape [3, 3]"},
		{[]int64{huge, 1, 3}, []int64{huge}, nil, "a size does not fit in 64 bits"},
		{[]int64{huge, 1, 3}, []int64{huge}, []int64{0, 1, 1, 3}, ""},
	} {
		c := rule.Call{Framework: "numpy.ndarray", Attrs: map[string]any{}, Inputs: map[string]rule.Value{
			"x": array("float32", tc.x...), "y": array("float32", tc.y...), "w": array("float32", 3),
		}}
		if tc.b != nil {
			c.Inputs["b"] = array("float32", tc.b...)
		}
		got := ""
		if f := rule.Check(op, c); f != nil {
			got = strings.TrimPrefix(f.Class+": "+f.Text, "ValueError: window: ")
		}
		if got != tc.want {
			t.Errorf("x %v, y %v, b %v: got %q, want %q", tc.x, tc.y, tc.b, got, tc.want)
		}
	}
	c := rule.Call{Inputs: map[string]rule.Value{
		"x": array("float32", 4, 1, 3), "y": array("float32", 2), "w": array("float32", 3), "b": array("float32", 3),
	}, Out: map[string]rule.Value{"z": array("float32", 3), "v": array("float32", 4, 3)}}
	if f := rule.Check(op, c); f == nil || f.Text != "window: v: expected shape [4, 2, 3], got shape [4, 3]" {
		t.Errorf("an output of another shape: got %v", f)
	}
}

// Every place where a size is computed can leave 64 bits, or have no value at all.
func TestSizesWithoutValue(t *testing.T) {
	const half, large = int64(1) << 62, "window: a size does not fit in 64 bits"
	for _, tc := range []struct{ name, dims, rest, output, want string }{
		{"bound", "N - k - k", "", "M", large},
		{"checked", "M + 2*k", "", "M", large},
		{"let", "N", `let.P = "-k * 4 + n[0]"`, "M", large},
		{"list", "N", `let.P = "sum(n)"`, "M", large},
		{"condition", "N", `require = ["2*M > 2*k"]`, "M", large},
		{"output", "N", "", "M, 2*M, 2*k", large},
		{"power", "N", `let.P = "2 ** k"`, "M", large},
		{"negative power", "N", `let.P = "2 ** (1 - k)"`, "M", "window: a size is not an integer"},
		{"division", "N", `let.P = "M // (k - k)"`, "M", "window: division by zero in a size"},
		{"division by a size", "N", "", "M // N", "window: division by zero in a size"},
		{"none", "N", `let.P = "M + k"`, "2*M", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			op := loadOp(t, fmt.Sprintf(sizesWithoutValue, tc.dims, tc.rest, tc.output))
			call := rule.Call{
				Framework: "numpy.ndarray", Attrs: map[string]any{"k": half, "n": []int64{half, half}},
				Inputs: map[string]rule.Value{"x": array("float32", 1), "y": array("float32", 0)},
			}
			got := ""
			if f := rule.Check(op, call); f != nil {
				got = f.Text
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

const sizesWithoutValue = `doc = "Sizes."
kind = 0
inputs = [
  { name = "x", type = "f32[M]", doc = "Rows." },
  { name = "y", type = "f32[%s]", doc = "Columns." },
]
attrs = [
  { name = "k", type = "int", default = 1, doc = "Count." },
  { name = "n", type = "int[2]", default = 1, doc = "Counts." },
]
%s
outputs = [{ name = "z", type = "f32[%s]", doc = "Result." }]
reference = "return x"
`

// A call of the library has no dtype attr: an output carries the dtype, which others have to share.
func TestBareCall(t *testing.T) {
	definition := strings.Replace(window, `doc = "Sums." }]`, `doc = "Sums." }, { name = "s", type = "O[F]", doc = "More." }]`, 1)
	op := loadOp(t, definition)
	for _, tc := range []struct{ name, z, s, want string }{
		{"not the default", "float16", "float16", ""},
		{"not allowed", "int8", "int8", "TypeError: window: z: expected dtype float32 or float16, got int8"},
		{"two dtypes", "float16", "float32", "TypeError: window: s: expected dtype float16 (as z), got float32"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call := right()
			call.Bare = true
			call.Out = map[string]rule.Value{"z": array(tc.z, 3, 6, 2), "s": array(tc.s, 6)}
			got := ""
			if f := rule.Check(op, call); f != nil {
				got = f.Class + ": " + f.Text
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTwoErrorsInOrder(t *testing.T) {
	op := loadOp(t, window)
	call := right()
	call.Inputs["w"] = array("float16", 6, 4)
	call.Attrs["eps"] = -1.0
	if f := rule.Check(op, call); f == nil || !strings.Contains(f.Text, "eps") {
		t.Errorf("attrs come before arrays, got %v", f)
	}
}

func TestInferredOutput(t *testing.T) {
	call := right()
	call.Attrs["out_dtype"] = "float16"
	call.Out = map[string]rule.Value{"z": array("float16", 3, 6, 2)}
	if f := rule.Check(loadOp(t, window), call); f != nil {
		t.Errorf("an output of the inferred dtype and shape: %v", f)
	}
}
