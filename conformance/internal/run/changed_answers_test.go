package run

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
)

// A change of an answer.
type change = func(x *calls.Transformation, r *calls.Transformed)

// off changes a bit of the last element of an array of a call; -1 is the last.
func off(call, output int) change {
	return func(_ *calls.Transformation, r *calls.Transformed) {
		c := r.Calls[(call+len(r.Calls))%len(r.Calls)]
		o := c.Outputs[(output+len(c.Outputs))%len(c.Outputs)]
		for i := range o.Data {
			o.Data[i] ^= 1
		}
	}
}

// launch adds a kernel start to every call.
func launch(_ *calls.Transformation, r *calls.Transformed) {
	for _, c := range r.Calls {
		for op := range c.Launches {
			c.Launches[op]++
		}
	}
}

// silent removes the error of a call.
func silent(call int) change {
	return func(_ *calls.Transformation, r *calls.Transformed) { r.Calls[call].Error = nil }
}

// reworded changes the texts of all errors, reclassed their classes.
func reworded(_ *calls.Transformation, r *calls.Transformed) {
	for i := range r.Calls {
		if e := r.Calls[i].Error; e != nil {
			r.Calls[i].Error = &calls.CallError{Class: e.Class, Text: strings.ReplaceAll(e.Text, ":", ";")}
		}
	}
}

func reclassed(_ *calls.Transformation, r *calls.Transformed) {
	for i := range r.Calls {
		if e := r.Calls[i].Error; e != nil {
			r.Calls[i].Error = &calls.CallError{Class: "RuntimeError", Text: e.Text}
		}
	}
}

// told changes a fact.
func told(name string, by func(v any) any) change {
	return func(_ *calls.Transformation, r *calls.Transformed) {
		facts := map[string]any{}
		if err := json.Unmarshal(r.Facts, &facts); err != nil {
			panic(err)
		}
		facts[name] = by(facts[name])
		r.Facts, _ = json.Marshal(facts) // it came from JSON
	}
}

func constant(v any) func(any) any { return func(any) any { return v } }

// longer says that something else happened as well.
func longer(text string) func(any) any {
	return func(v any) any {
		list, _ := v.([]any)
		whole, _ := list[0].(string)
		return []any{whole + text}
	}
}

// without leaves the entries of a list out that contain a text.
func without(text string) func(any) any {
	return func(v any) any {
		list, _ := v.([]any)
		return slices.DeleteFunc(list, func(item any) bool {
			raw, err := json.Marshal(item)
			return err != nil || bytes.Contains(raw, []byte(text))
		})
	}
}

// outcome is what every test of opcheck says.
func outcome(text string) func(any) any {
	return func(v any) any {
		ops, _ := v.(map[string]any)
		for op := range ops {
			tests, _ := ops[op].(map[string]any)
			for test := range tests {
				tests[test] = text
			}
		}
		return ops
	}
}

// restrided reports strides, and moved a device, that abstract results do not have.
func restrided(_ *calls.Transformation, r *calls.Transformed) {
	for i := range r.Calls[1].Outputs {
		r.Calls[1].Outputs[i].Strides = slices.Repeat([]int64{7}, len(r.Calls[1].Outputs[i].Strides))
	}
}

func moved(_ *calls.Transformation, r *calls.Transformed) { r.Calls[2].Outputs[0].Device = "cpu" }

func reshaped(_ *calls.Transformation, r *calls.Transformed) {
	for _, c := range r.Calls {
		for _, o := range c.Outputs {
			o.Shape = append([]int64{1}, o.Shape...)
		}
	}
}

// wholeShards says that every device has everything.
func wholeShards(v any) any {
	calls, _ := v.([]any)
	arrays, _ := calls[0].([]any)
	for i := range arrays {
		arrays[i] = []any{[]any{8, 2, 5}}
	}
	return calls
}

// negative changes the signs of all arrays of a call: sums are compared with a tolerance.
func negative(call int) change {
	return func(_ *calls.Transformation, r *calls.Transformed) {
		for _, o := range r.Calls[call].Outputs {
			for i := 3; i < len(o.Data); i += 4 {
				o.Data[i] ^= 0x80
			}
		}
	}
}
