package rule_test

import (
	"testing"

	"github.com/opcast/opcast/internal/language/rule"
)

// update writes two of its inputs, one of them strided, and has outputs that need not exist.
const update = `doc = "Update x."
kind = 0
dtypes = { T = ["f32", "f16"] }
inputs = [
  { name = "x", type = "T[*, N]", mutated = true, stride = "last", doc = "In and out." },
  { name = "state", type = "T[N]", mutated = true, doc = "In and out." },
  { name = "step", type = "T[*, N]", doc = "In." },
  { name = "bias", type = "T[N + K]", optional = true, doc = "In." },
]
attrs = [{ name = "ends", type = "bool", default = false, doc = "Whether to give ends." }]
outputs = [
  { name = "norm", type = "T[*]", doc = "Out." },
  { name = "total", type = "T[K - 2]", present_if = "bias", doc = "Out." },
  { name = "tail", type = "T[N - 3]", present_if = "ends", doc = "Out." },
]
reference = "return x"
`

func updateCall() rule.Call {
	return rule.Call{
		Framework: "numpy.ndarray",
		Inputs:    map[string]rule.Value{"x": array("float32", 3, 4), "state": array("float32", 4), "step": array("float32", 3, 4)},
		Attrs:     map[string]any{},
	}
}

func TestWrittenGoldenText(t *testing.T) {
	op := loadOp(t, update)
	if f := rule.Check(op, updateCall()); f != nil {
		t.Fatalf("valid call: %v", f)
	}
	change := func(name string, edit func(*rule.Value)) func(*rule.Call) {
		return func(c *rule.Call) {
			v := c.Inputs[name]
			edit(&v)
			c.Inputs[name] = v
		}
	}
	strides := func(name string, s ...int64) func(*rule.Call) {
		return change(name, func(v *rule.Value) { v.Strides = s })
	}
	bias := func(c *rule.Call) { c.Inputs["bias"] = array("float32", 9) }
	ends := func(v bool) func(*rule.Call) { return func(c *rule.Call) { c.Attrs["ends"] = v } }
	narrow := func(c *rule.Call) {
		c.Inputs = map[string]rule.Value{"x": array("float32", 3, 2), "state": array("float32", 2), "step": array("float32", 3, 2)}
	}
	both := func(edits ...func(*rule.Call)) func(*rule.Call) {
		return func(c *rule.Call) {
			for _, edit := range edits {
				edit(c)
			}
		}
	}
	place := func(name string, offset int64) func(*rule.Call) {
		return change(name, func(v *rule.Value) { v.Buffer, v.Offset = "b", offset })
	}
	out := func(names ...string) func(*rule.Call) {
		return func(c *rule.Call) {
			c.Out = map[string]rule.Value{}
			for _, name := range names {
				c.Out[name] = map[string]rule.Value{"norm": array("float32", 3), "total": array("float32", 3), "tail": array("float32", 1)}[name]
			}
		}
	}
	for _, tc := range []struct {
		name  string
		wrong func(*rule.Call)
		want  string
	}{
		{"read-only", change("x", func(v *rule.Value) { v.ReadOnly = true }), "ValueError: window: x: expected writable memory, got a read-only array"},
		{"not dense", strides("state", 2), "ValueError: window: state: expected contiguous memory, got strides [2]"},
		{"last dim", strides("x", 4, 2), "ValueError: window: x: expected a contiguous last dimension, got strides [4, 2]"},
		{"within itself", strides("x", 0, 1), "ValueError: window: x: expected memory without overlap, got strides [0, 1]"},
		{"rows that share columns", strides("x", 3, 1), "ValueError: window: x: expected memory without overlap, got strides [3, 1]"},
		{"overlap", both(place("x", 0), place("step", 4)), "ValueError: window: x: expected memory apart from step, got overlapping memory"},
		{"overlap of two written", both(place("x", 0), place("state", 8)), "ValueError: window: x: expected memory apart from state, got overlapping memory"},
		{"overlap of a later one", both(place("state", 0), place("step", 2)), "ValueError: window: state: expected memory apart from step, got overlapping memory"},
		{"column halves", both(strides("x", 8, 1), strides("step", 8, 1), place("x", 0), place("step", 4)), ""},
		{"absent output", both(bias, out("norm")), "ValueError: window: total: expected an array (as bias), got None"},
		{"needless output", out("norm", "total"), "ValueError: window: total: expected None (as bias), got an array"},
		{"both outputs", both(bias, out("norm", "total")), ""},
		{"no output needed", out("norm"), ""},
		{"negative size of an absent output", func(c *rule.Call) { c.Inputs["bias"] = array("float32", 5) },
			"ValueError: window: output total would have a negative dimension: K - 2 = -1"},
		{"switched on", both(ends(true), out("norm", "tail")), ""},
		{"not switched on", out("norm", "tail"), "ValueError: window: tail: expected None (as ends is false), got an array"},
		{"switched off", both(ends(false), out("norm", "tail")), "ValueError: window: tail: expected None (as ends is false), got an array"},
		{"switched on, and absent", both(ends(true), out("norm")), "ValueError: window: tail: expected an array (as ends is true), got None"},
		{"negative size of an output that is off", narrow, ""},
		{"negative size of an output that is on", both(narrow, ends(true)), "ValueError: window: output tail would have a negative dimension: N - 3 = -1"},
		{"strided output", both(bias, out("norm", "total"), func(c *rule.Call) {
			v := c.Out["norm"]
			v.Strides = []int64{2}
			c.Out["norm"] = v
		}), "ValueError: window: norm: expected contiguous memory, got strides [2]"},
		{"output over an input", both(out("norm"), place("step", 10), func(c *rule.Call) {
			v := c.Out["norm"]
			v.Buffer, v.Offset = "b", 8
			c.Out["norm"] = v
		}), "ValueError: window: norm: expected memory apart from step, got overlapping memory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call := updateCall()
			tc.wrong(&call)
			got := ""
			if f := rule.Check(op, call); f != nil {
				got = f.Class + ": " + f.Text
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestSavedTogether: saved outputs are given all or none.
func TestSavedTogether(t *testing.T) {
	op := loadOp(t, `doc = "Normalise."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[M, N]", doc = "In." }]
outputs = [
  { name = "y", type = "T[M, N]", doc = "Out." },
  { name = "mean", type = "f32[M]", saved = true, doc = "Saved." },
  { name = "rstd", type = "f32[M]", saved = true, doc = "Saved." },
]
backward = "window_backward"
reference = "return x"
`, `doc = "Gradient."
kind = 1
dtypes = { T = ["f32"] }
inputs = [{ name = "grad_y", type = "T[M, N]", doc = "In." }, { name = "mean", type = "f32[M]", doc = "In." }]
outputs = [{ name = "grad_x", type = "T[M, N]", doc = "Out." }]
reference = "return grad_y"
`)
	call := func(given ...string) rule.Call {
		c := rule.Call{Framework: "array", Inputs: map[string]rule.Value{"x": array("float32", 2, 3)}, Out: map[string]rule.Value{"y": array("float32", 2, 3)}}
		for _, name := range given {
			c.Out[name] = array("float32", 2)
		}
		return c
	}
	for want, c := range map[string]rule.Call{
		"window: rstd: expected an array (as mean), got None": call("mean"),
		"window: rstd: expected None (as mean), got an array": call("rstd"),
	} {
		if f := rule.Check(op, c); f == nil || f.Class != "ValueError" || f.Text != want {
			t.Errorf("got %v, want %s", f, want)
		}
	}
	for _, c := range []rule.Call{call(), call("mean", "rstd")} {
		if f := rule.Check(op, c); f != nil {
			t.Error(f)
		}
	}
}

// What the op writes as 32 bits must fit: the sizes alone say whether it does, before any memory is touched.
func TestPositionsThatDoNotFit(t *testing.T) {
	op := loadOp(t, `doc = "Find the largest numbers, and those above a bound."
kind = 0
dtypes = { I = ["i32", "i64"] }
inputs = [{ name = "x", type = "f32[*, N]", doc = "Rows." }]
attrs = [
  { name = "deep", type = "bool", default = false, doc = "Whether scratch counts twice." },
  { name = "index_dtype", type = "dtype", binds = "I", default = "i64", doc = "Of the columns." },
]
outputs = [
  { name = "index", type = "I[*]", min = 0, max = "N - 1", doc = "Columns." },
  { name = "rows", type = "f32[N]", valid = "count", doc = "Numbers above the bound." },
  { name = "count", type = "i32[1]", doc = "How many." },
]
scratch = [
  { name = "counts", type = "u16[8]", max = "2*N if deep else 7", doc = "Parts." },
  { name = "below", type = "i16[8]", min = "-N", max = 0, doc = "Parts." },
]
reference = "return x"
`)
	call := func(n int64, index string, deep bool) rule.Call {
		return rule.Call{
			Framework: "numpy.ndarray", Inputs: map[string]rule.Value{"x": array("float32", 2, n)},
			Attrs: map[string]any{"index_dtype": index, "deep": deep},
		}
	}
	for _, tc := range []struct {
		call rule.Call
		want string
	}{
		{call(1<<15, "int32", false), ""},
		{call(1<<31, "int64", false), "ValueError: window: expected N <= 2147483647, got N = 2147483648"},
		{call(1<<31+1, "int32", false), "ValueError: window: expected I != i32 or N - 1 <= 2147483647, got I = int32, N = 2147483649: give another index_dtype"},
		{call(1<<15, "int64", true), "ValueError: window: expected (2*N if deep else 7) <= 65535, got N = 32768, deep = True"},
		{call(1<<15+1, "int64", false), "ValueError: window: expected -N >= -32768, got N = 32769"},
	} {
		got := ""
		if f := rule.Check(op, tc.call); f != nil {
			got = f.Class + ": " + f.Text
		}
		if got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

// TestScratchGoldenText has the texts of backend/tests/registry_test.cc, which the library prints.
func TestScratchGoldenText(t *testing.T) {
	op := loadOp(t, `doc = "Sum."
kind = 0
dtypes = { T = ["f32", "f16"] }
inputs = [{ name = "x", type = "T[*, N]", doc = "In." }]
outputs = [{ name = "y", type = "T[*]", doc = "Out." }]
scratch = [{ name = "part", type = "T[*, N - 2]" }, { name = "flag", type = "i64[]" }]
reference = "return x"
`)
	over := array("float32", 2, 4)
	over.Buffer, over.Offset = "b", 12
	strided := array("float32", 2, 4)
	strided.Strides = []int64{8, 1}
	elsewhere := array("int64")
	elsewhere.Device = "cuda:0"
	for _, tc := range []struct {
		name, scratch string
		value         rule.Value
		want          string
	}{
		{"right", "part", array("float32", 2, 4), ""},
		{"left out", "part", rule.Value{}, ""},
		{"dtype of a variable", "part", array("float16", 2, 4), "TypeError: window: part: expected dtype float32 (as x), got float16"},
		{"dtype", "flag", array("int32"), "TypeError: window: flag: expected dtype int64, got int32"},
		{"shape", "part", array("float32", 8), "ValueError: window: part: expected shape [2, 4], got shape [8]"},
		{"strides", "part", strided, "ValueError: window: part: expected contiguous memory, got strides [8, 1]"},
		{"device", "flag", elsewhere, "ValueError: window: flag: expected device cpu (as x), got cuda:0"},
		{"over an output", "part", over, "ValueError: window: part: expected memory apart from y, got overlapping memory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x, y := array("float32", 2, 6), array("float32", 2)
			y.Buffer, y.Offset = "b", 18
			call := rule.Call{
				Inputs: map[string]rule.Value{"x": x}, Out: map[string]rule.Value{"y": y},
				Scratch: map[string]rule.Value{tc.scratch: tc.value},
			}
			got := ""
			if f := rule.Check(op, call); f != nil {
				got = f.Class + ": " + f.Text
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	f := rule.Check(op, rule.Call{Inputs: map[string]rule.Value{"x": array("float32", 1)}})
	if f == nil || f.Text != "window: scratch part would have a negative dimension: N - 2 = -1" {
		t.Errorf("got %v", f)
	}
}
