package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/rule"
)

// wrongWhen spoils the results of the calls that a test accepts, by more than the tolerance of a sum.
func wrongWhen(test func(c *calls.Call) bool) func(*calls.Call, *calls.Result) {
	return func(c *calls.Call, r *calls.Result) {
		if r.Error == nil && test(c) && r.Outputs[0].Len() > 0 {
			put(&r.Outputs[0], 1e3)
		}
	}
}

func forcedTo(name string) func(*calls.Call, *calls.Result) {
	return wrongWhen(func(c *calls.Call) bool { return c.Kernel == name })
}

// plantedVariants are mutants of ragged rows, scratch and dispatch: each check named must fail.
var plantedVariants = map[string]struct {
	checks string
	fake   fake.Framework
}{
	"one kernel is off":         {"value", fake.Framework{After: forcedTo("wide")}},
	"a tail kernel is off":      {"value", fake.Framework{After: forcedTo("narrow")}},
	"dispatch runs another":     {"variants", fake.Framework{After: wrongWhen(func(c *calls.Call) bool { return c.Kernel == "" })}},
	"a condition is forgotten":  {"variants", fake.Framework{Before: takeAll}},
	"a reason is lost":          {"variants", fake.Framework{After: speechless}},
	"a reason is another":       {"variants", fake.Framework{After: onRefusal(func(e *calls.CallError) { e.Text = strings.Replace(e.Text, "N %", "M %", 1) })}},
	"a kernel refuses all":      {"value", fake.Framework{After: refuseAll("plain", "needs luck")}},
	"empty sequences are off":   {"contents", fake.Framework{After: wrongWhen(func(c *calls.Call) bool { return allEqual(c.Inputs[2]) })}},
	"the last row is forgotten": {"contents", fake.Framework{After: wrongWhen(func(c *calls.Call) bool { return atEnd(c) })}},
	"scratch is not zeroed":     {"scratch", fake.Framework{After: wrongWhen(func(c *calls.Call) bool { return c.Scratch != nil && guardedByte(c.Scratch[1]) == 0x3f })}},
	"scratch is read":           {"scratch", fake.Framework{After: wrongWhen(func(c *calls.Call) bool { return c.Scratch != nil && guardedByte(c.Scratch[0]) == 0 })}},
	"scratch overflows":         {"scratch", fake.Framework{After: overflow}},
	"scratch is always needed":  {"scratch", fake.Framework{Before: demandScratch}},
	"missing scratch passes":    {"scratch", fake.Framework{Before: scratchless}},
	"wrong scratch passes":      {"errors", fake.Framework{Before: ignoreScratch}},
	"refused scratch is used":   {"side-effects", fake.Framework{After: onRefusedScratch}},
}

func TestPlantedVariantsAreFound(t *testing.T) {
	for name, planted := range plantedVariants {
		t.Run(name, func(t *testing.T) {
			for id := range strings.FieldsSeq(planted.checks) {
				caller := planted.fake
				caller.CallerName = calls.BackendName
				if status := fakeRunOf(t, "ragged", id, &caller, nil); !strings.Contains(status, "fail: ") {
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}

// takeAll runs a forced kernel whatever its condition says.
func takeAll(call *calls.Call) (*calls.Result, error) {
	if call.Kernel == "" {
		return nil, nil
	}
	free := call.Clone()
	free.Kernel = ""
	return (&fake.Framework{CallerName: calls.BackendName}).Answer(free), nil
}

func onRefusal(change func(*calls.CallError)) func(*calls.Call, *calls.Result) {
	return func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil && r.Error.Class == "NotImplementedError" {
			change(r.Error)
		}
	}
}

func speechless(call *calls.Call, r *calls.Result) {
	onRefusal(func(e *calls.CallError) { e.Text = call.Op.Name + ": no kernel" })(call, r)
}

// refuseAll has one kernel take no call at all.
func refuseAll(kernel, reason string) func(*calls.Call, *calls.Result) {
	return func(call *calls.Call, r *calls.Result) {
		if call.Kernel == kernel && r.Error == nil {
			*r = calls.Result{Error: &calls.CallError{
				Class: "NotImplementedError", Text: call.Op.Name + ": no kernel takes this call on cpu: " + kernel + ": " + reason,
			}}
		}
	}
}

func allEqual(v any) bool {
	x, ok := v.(*calls.Tensor)
	return ok && len(slices.Compact(x.Floats())) == 1
}

// atEnd reports whether the last sequence ends with the last row.
func atEnd(c *calls.Call) bool {
	ends, ok := c.Inputs[2].(*calls.Tensor)
	if !ok || ends.Len() < 2 {
		return false
	}
	values := ends.Floats()
	rows := float64(c.Inputs[0].(*calls.Tensor).Shape[0])
	return values[0] == 0 && values[len(values)-1] == rows && !allEqual(ends)
}

// guardedByte is the first byte of the elements of an array with guards; -1 where there is none.
func guardedByte(x *calls.Tensor) int {
	if x == nil || x.Len() == 0 {
		return -1
	}
	return int(x.Bytes()[0])
}

// overflow writes behind the scratch.
func overflow(call *calls.Call, r *calls.Result) {
	if r.Error == nil && call.Scratch != nil {
		memory := r.Buffers[call.TensorIndex(call.Scratch[1])]
		memory[len(memory)-1] ^= 1
	}
}

func demandScratch(call *calls.Call) (*calls.Result, error) {
	if call.Scratch != nil {
		return nil, nil
	}
	return &calls.Result{Error: &calls.CallError{Class: "ValueError", Text: "ragged: part: expected a scratch array, got None"}}, nil
}

// scratchless computes although scratch is missing.
func scratchless(call *calls.Call) (*calls.Result, error) {
	i := slices.Index(call.Scratch, nil)
	if i < 0 {
		return nil, nil
	}
	whole := call.Clone()
	made, err := calls.FilledScratch(fake.CaseOf(call), 0)
	if err != nil {
		return nil, err
	}
	whole.Scratch[i] = made[i]
	return (&fake.Framework{CallerName: calls.BackendName}).Answer(whole), nil
}

// ignoreScratch never looks at scratch.
func ignoreScratch(call *calls.Call) (*calls.Result, error) {
	blind := call.Clone()
	blind.Scratch = nil
	if expected := invalid.ExpectedError(rule.Compile(call.Op), blind, &fake.Framework{CallerName: calls.BackendName}, "cpu"); expected != nil || call.Scratch == nil {
		return nil, nil
	}
	r := &calls.Result{Outputs: make([]calls.Output, 1)}
	for _, t := range call.Tensors() {
		r.Buffers = append(r.Buffers, t.Data)
	}
	return r, nil
}

func onRefusedScratch(call *calls.Call, r *calls.Result) {
	if r.Error != nil && strings.Contains(r.Error.Text, ": part: ") {
		for i, x := range call.Tensors() {
			if slices.Contains(call.Scratch, x) && len(r.Buffers[i]) > 0 {
				r.Buffers[i][0] ^= 1
			}
		}
	}
}
