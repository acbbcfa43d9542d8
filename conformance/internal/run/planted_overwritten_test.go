package run

import (
	"bytes"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/system/rpc"
)

// plantedIn are mutants of ops that overwrite, save, leave out or sum up: each check named must fail.
var plantedIn = map[string]struct {
	op, checks string
	fake       fake.Framework
}{
	"nothing is overwritten":    {"accumulate", "mutated", fake.Framework{After: onBuffers(func(c *calls.Call, i int, b []byte) { copy(b, c.Tensors()[i].Data) })}},
	"a copy is returned":        {"accumulate", "mutated inputs-unchanged", fake.Framework{After: onOutputs(func(o *calls.Output) { o.ArgumentIndex = -1 })}},
	"the bytes between rows":    {"accumulate", "sliced side-by-side", fake.Framework{After: onBuffers(betweenRows)}},
	"an input is overwritten":   {"accumulate", "inputs-unchanged", fake.Framework{After: onBuffers(lastOf)}},
	"results are swapped":       {"accumulate", "value", fake.Framework{After: swapped}},
	"an update is lost":         {"accumulate", "value mutated", fake.Framework{After: onOutputs(zeroed)}},
	"a missing gate is ignored": {"accumulate", "value shape", fake.Framework{After: onOutputs(func(o *calls.Output) { fill(o) })}},
	"a result is None":          {"accumulate", "value shape", fake.Framework{After: func(_ *calls.Call, r *calls.Result) { r.Outputs[len(r.Outputs)-1] = calls.Output{} }}},
	"a result is missing":       {"accumulate", "value shape", fake.Framework{After: func(_ *calls.Call, r *calls.Result) { r.Outputs = r.Outputs[1:] }}},
	"overlap passes":            {"accumulate", "errors", fake.Framework{Before: ignoreRule("overlapping memory")}},
	"one place for two passes":  {"accumulate", "errors expanded", fake.Framework{Before: ignoreRule("memory without overlap")}},
	"a layout passes":           {"accumulate", "errors transposed", fake.Framework{Before: ignoreRule("a contiguous last dimension")}},
	"read-only memory passes":   {"accumulate", "errors", fake.Framework{Before: ignoreRule("writable memory")}},
	"halves are refused":        {"accumulate", "side-by-side", fake.Framework{Before: refuseOffsets}},
	"a refused call writes": {"accumulate", "side-effects", fake.Framework{After: func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil && strings.Contains(r.Error.Text, "overlapping memory") {
			r.Buffers[0][0] ^= 1
		}
	}}},
	"an immutable array changes": {"accumulate", "mutated", fake.Framework{CallerName: "jax", After: onBuffers(func(_ *calls.Call, _ int, b []byte) { b[0] ^= 1 })}},
	"an immutable array returns": {"accumulate", "mutated", fake.Framework{CallerName: "jax", After: onOutputs(func(o *calls.Output) { o.ArgumentIndex = 1 })}},
	"a promise is broken": {"accumulate", "version stale donation unwritable", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if strings.HasPrefix(c.Probe, check.GroupMemory) {
			r.Notes = map[string]any{"kept": true, "refused": false}
		}
	}}},
	"a gradient is lost": {"accumulate", "gradient-written", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if strings.Contains(c.Probe, "refused") {
			return (&fake.Framework{CallerName: "fake"}).Answer(&calls.Call{Op: c.Op, Inputs: c.Inputs, Attrs: c.Attrs}), nil
		}
		return nil, nil
	}}},
	"one object counts twice": {"affine", "same-object", fake.Framework{After: when(func(c *calls.Call) bool { return twice(c) })}},
	"a probe is wrong":        {"accumulate", "version donation", fake.Framework{After: when(func(c *calls.Call) bool { return strings.HasPrefix(c.Probe, check.GroupMemory) })}},
	"nonsense crashes": {"affine", "malformed", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if strings.HasPrefix(c.Probe, check.GroupMalformed) {
			return nil, &rpc.CrashError{Reason: "signal: segmentation expected"}
		}
		return nil, nil
	}}},
	"out for nothing passes":   {"norm_backward", "errors", fake.Framework{Before: ignoreRule("expected None")}},
	"outputs share memory":     {"norm_backward", "errors", fake.Framework{Before: ignoreRule("apart from grad_")}},
	"an array outside the sum": {"norm_backward", "split", fake.Framework{After: onWhole(func(o *calls.Output) { put(o, 3) })}},
	"a saved value is off":     {"norm", "value", fake.Framework{CallerName: calls.BackendName, After: nudgeSaved}},
	"saving changes bits":      {"norm", "saved", fake.Framework{CallerName: calls.BackendName, After: when(func(c *calls.Call) bool { return c.Out[1] == nil })}},
	"a surplus out= passes": {"norm", "errors", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if c.Extra["out"] != nil {
			return (&fake.Framework{CallerName: "fake"}).Answer(&calls.Call{Op: c.Op, Inputs: c.Inputs, Attrs: c.Attrs}), nil
		}
		return nil, nil
	}}},
	"saving half passes": {"norm", "saved", fake.Framework{CallerName: calls.BackendName, Before: refuseUnsaved}},
}

func TestPlantedMutationsAreFound(t *testing.T) {
	for name, planted := range plantedIn {
		t.Run(name, func(t *testing.T) {
			for id := range strings.FieldsSeq(planted.checks) {
				caller := planted.fake
				if caller.CallerName == "" {
					caller.CallerName = "fake"
				}
				if status := fakeRunOf(t, planted.op, id, &caller, nil); !strings.Contains(status, "fail: ") {
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}

// A result that differs from run to run is found.
func TestPlantedChance(t *testing.T) {
	list := 0
	caller := &fake.Framework{CallerName: "fake", After: when(func(*calls.Call) bool { list++; return list%2 == 0 })}
	if status := fakeRun(t, "repeated", caller, nil); !strings.Contains(status, "fail: ") {
		t.Error(status)
	}
}

// onBuffers changes the memory behind each array argument of valid calls.
func onBuffers(change func(c *calls.Call, i int, memory []byte)) func(*calls.Call, *calls.Result) {
	return func(c *calls.Call, r *calls.Result) {
		for i, memory := range r.Buffers {
			if r.Error == nil && len(memory) > 0 {
				change(c, i, memory)
			}
		}
	}
}

// betweenRows writes beside the elements of an argument that does not fill its memory.
func betweenRows(c *calls.Call, i int, memory []byte) {
	x := c.Tensors()[i]
	if x.Len()*ndarray.ItemSize(x.DType) == int64(len(memory)) {
		return
	}
	free := bytes.Repeat([]byte{1}, len(memory))
	for _, other := range c.Tensors() {
		if len(other.Data) > 0 && &other.Data[0] == &x.Data[0] {
			check.ZeroElements(free, other.Array)
		}
	}
	if at := bytes.IndexByte(free, 1); at >= 0 {
		memory[at] ^= 1
	}
}

// twice reports whether one object is passed for two arguments.
func twice(c *calls.Call) bool {
	list := c.Tensors()
	for i, t := range list {
		if c.TensorIndex(t) != i {
			return true
		}
	}
	return false
}

func lastOf(c *calls.Call, i int, memory []byte) {
	if i == 2 && i == len(c.Tensors())-1 {
		memory[0] ^= 1
	}
}

func onOutputs(change func(*calls.Output)) func(*calls.Call, *calls.Result) {
	return func(_ *calls.Call, r *calls.Result) { each(r, change) }
}

// onWhole changes the results that are no gradients of rows, in calls of seven rows.
func onWhole(change func(*calls.Output)) func(*calls.Call, *calls.Result) {
	return func(c *calls.Call, r *calls.Result) {
		if r.Error == nil && x(c).Shape[0] == 7 {
			change(&r.Outputs[1])
		}
	}
}

func put(o *calls.Output, v float64) { ndarray.PutFloat(o.DType, o.Data, 0, v) }

func zeroed(o *calls.Output) {
	if o.Array != nil {
		clear(o.Data)
	}
}

// fill gives an array where there should be none.
func fill(o *calls.Output) {
	if o.Array == nil {
		o.Array = ndarray.New(dtype.Must("f32"), []int64{1})
	}
}

func swapped(_ *calls.Call, r *calls.Result) {
	if n := len(r.Outputs); n > 1 {
		r.Outputs[n-1], r.Outputs[n-2] = r.Outputs[n-2], r.Outputs[n-1]
	}
}

func nudgeSaved(_ *calls.Call, r *calls.Result) {
	if len(r.Outputs) > 1 && r.Outputs[1].Array != nil && r.Outputs[1].Len() > 0 {
		put(&r.Outputs[1], 7)
	}
}

// ignoreRule computes although the rules object with a text.
func ignoreRule(text string) func(*calls.Call) (*calls.Result, error) {
	return func(call *calls.Call) (*calls.Result, error) {
		if len(call.Inputs) > len(call.Op.Inputs) || call.Extra != nil {
			return nil, nil
		}
		expected := invalid.ExpectedError(rule.Compile(call.Op), call, &fake.Framework{CallerName: "fake"}, "cpu")
		if expected == nil || !strings.Contains(expected.Text, text) {
			return nil, nil
		}
		r := &calls.Result{Outputs: make([]calls.Output, len(cases.Slots(call.Op)))}
		for _, t := range call.Tensors() {
			r.Buffers = append(r.Buffers, bytes.Clone(t.Data))
		}
		return r, nil
	}
}

// refuseOffsets takes two arrays in one buffer for overlapping ones.
func refuseOffsets(call *calls.Call) (*calls.Result, error) {
	list := call.Tensors()
	if len(list) > 1 && len(list[0].Data) > 0 && len(list[1].Data) > 0 && &list[0].Data[0] == &list[1].Data[0] {
		text := call.Op.Name + ": x: expected memory apart from total, got overlapping memory"
		return &calls.Result{Error: &calls.CallError{Class: "ValueError", Text: text}}, nil
	}
	return nil, nil
}

func refuseUnsaved(call *calls.Call) (*calls.Result, error) {
	if call.Out[1] == nil {
		return &calls.Result{Error: &calls.CallError{Class: "ValueError", Text: "norm: scale: expected an array, got None"}}, nil
	}
	return nil, nil
}
