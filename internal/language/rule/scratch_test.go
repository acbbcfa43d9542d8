package rule_test

import (
	"testing"

	"github.com/opcast/opcast/internal/language/rule"
)

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
