package conformance

import (
	"bytes"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/rpc"
	"github.com/opcast/opcast/internal/rule"
)

// plantedIn are mutants of ops that overwrite, save, leave out or sum up: each check named must fail.
var plantedIn = map[string]struct {
	op, checks string
	fake       fake
}{
	"nothing is overwritten":    {"accumulate", "mutated", fake{after: onBuffers(func(c *Call, i int, b []byte) { copy(b, c.tensors()[i].Data) })}},
	"a copy is returned":        {"accumulate", "mutated inputs-unchanged", fake{after: onOutputs(func(o *Output) { o.Same = -1 })}},
	"the bytes between rows":    {"accumulate", "sliced side-by-side", fake{after: onBuffers(betweenRows)}},
	"an input is overwritten":   {"accumulate", "inputs-unchanged", fake{after: onBuffers(lastOf)}},
	"results are swapped":       {"accumulate", "value", fake{after: swapped}},
	"an update is lost":         {"accumulate", "value mutated", fake{after: onOutputs(zeroed)}},
	"a missing gate is ignored": {"accumulate", "value shape", fake{after: onOutputs(func(o *Output) { fill(o) })}},
	"a result is None":          {"accumulate", "value shape", fake{after: func(_ *Call, r *Result) { r.Outputs[len(r.Outputs)-1] = Output{} }}},
	"a result is missing":       {"accumulate", "value shape", fake{after: func(_ *Call, r *Result) { r.Outputs = r.Outputs[1:] }}},
	"overlap passes":            {"accumulate", "errors", fake{before: deaf("overlapping memory")}},
	"one place for two passes":  {"accumulate", "errors expanded", fake{before: deaf("memory without overlap")}},
	"a layout passes":           {"accumulate", "errors transposed", fake{before: deaf("a contiguous last dimension")}},
	"read-only memory passes":   {"accumulate", "errors", fake{before: deaf("writable memory")}},
	"halves are refused":        {"accumulate", "side-by-side", fake{before: refuseOffsets}},
	"a refused call writes": {"accumulate", "side-effects", fake{after: func(_ *Call, r *Result) {
		if r.Error != nil && strings.Contains(r.Error.Text, "overlapping memory") {
			r.Buffers[0][0] ^= 1
		}
	}}},
	"an immutable array changes": {"accumulate", "mutated", fake{name: "jax", after: onBuffers(func(_ *Call, _ int, b []byte) { b[0] ^= 1 })}},
	"an immutable array returns": {"accumulate", "mutated", fake{name: "jax", after: onOutputs(func(o *Output) { o.Same = 1 })}},
	"a promise is broken": {"accumulate", "version stale donation unwritable", fake{after: func(c *Call, r *Result) {
		if strings.HasPrefix(c.Probe, groupMemory) {
			r.Notes = map[string]any{"kept": true, "refused": false}
		}
	}}},
	"a gradient is lost": {"accumulate", "gradient-written", fake{before: func(c *Call) (*Result, error) {
		if strings.Contains(c.Probe, "refused") {
			return (&fake{name: "fake"}).answer(&Call{Op: c.Op, Inputs: c.Inputs, Attrs: c.Attrs}), nil
		}
		return nil, nil
	}}},
	"one object counts twice": {"affine", "same-object", fake{after: when(func(c *Call) bool { return twice(c) })}},
	"a probe is wrong":        {"accumulate", "version donation", fake{after: when(func(c *Call) bool { return strings.HasPrefix(c.Probe, groupMemory) })}},
	"nonsense crashes": {"affine", "malformed", fake{before: func(c *Call) (*Result, error) {
		if strings.HasPrefix(c.Probe, groupMalformed) {
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		return nil, nil
	}}},
	"out for nothing passes":   {"norm_backward", "errors", fake{before: deaf("expected None")}},
	"outputs share memory":     {"norm_backward", "errors", fake{before: deaf("apart from grad_")}},
	"an array outside the sum": {"norm_backward", "split", fake{after: onWhole(func(o *Output) { put(o, 3) })}},
	"a saved value is off":     {"norm", "value", fake{name: backendName, after: nudgeSaved}},
	"saving changes bits":      {"norm", "saved", fake{name: backendName, after: when(func(c *Call) bool { return c.Out[1] == nil })}},
	"a surplus out= passes": {"norm", "errors", fake{before: func(c *Call) (*Result, error) {
		if c.Extra["out"] != nil {
			return (&fake{name: "fake"}).answer(&Call{Op: c.Op, Inputs: c.Inputs, Attrs: c.Attrs}), nil
		}
		return nil, nil
	}}},
	"saving half passes": {"norm", "saved", fake{name: backendName, before: refuseUnsaved}},
}

func TestPlantedMutationsAreFound(t *testing.T) {
	for name, fault := range plantedIn {
		t.Run(name, func(t *testing.T) {
			for id := range strings.FieldsSeq(fault.checks) {
				caller := fault.fake
				if caller.name == "" {
					caller.name = "fake"
				}
				if status := fakeRunOf(t, fault.op, id, &caller, nil); !strings.Contains(status, "fail: ") {
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}

// A result that differs from run to run is found.
func TestPlantedChance(t *testing.T) {
	calls := 0
	caller := &fake{name: "fake", after: when(func(*Call) bool { calls++; return calls%2 == 0 })}
	if status := fakeRun(t, "repeated", caller, nil); !strings.Contains(status, "fail: ") {
		t.Error(status)
	}
}

// onBuffers changes the memory behind each array argument of right calls.
func onBuffers(change func(c *Call, i int, memory []byte)) func(*Call, *Result) {
	return func(c *Call, r *Result) {
		for i, memory := range r.Buffers {
			if r.Error == nil && len(memory) > 0 {
				change(c, i, memory)
			}
		}
	}
}

// betweenRows writes beside the elements of an argument that does not fill its memory.
func betweenRows(c *Call, i int, memory []byte) {
	x := c.tensors()[i]
	if x.Len()*ndarray.ItemSize(x.DType) == int64(len(memory)) {
		return
	}
	free := bytes.Repeat([]byte{1}, len(memory))
	for _, other := range c.tensors() {
		if len(other.Data) > 0 && &other.Data[0] == &x.Data[0] {
			blank(free, other.Array)
		}
	}
	if at := bytes.IndexByte(free, 1); at >= 0 {
		memory[at] ^= 1
	}
}

// twice reports whether one object is passed for two arguments.
func twice(c *Call) bool {
	list := c.tensors()
	for i, t := range list {
		if c.number(t) != i {
			return true
		}
	}
	return false
}

func lastOf(c *Call, i int, memory []byte) {
	if i == 2 && i == len(c.tensors())-1 {
		memory[0] ^= 1
	}
}

func onOutputs(change func(*Output)) func(*Call, *Result) {
	return func(_ *Call, r *Result) { each(r, change) }
}

// onWhole changes the results that are no gradients of rows, in calls of seven rows.
func onWhole(change func(*Output)) func(*Call, *Result) {
	return func(c *Call, r *Result) {
		if r.Error == nil && x(c).Shape[0] == 7 {
			change(&r.Outputs[1])
		}
	}
}

func put(o *Output, v float64) { ndarray.PutFloat(o.DType, o.Data, 0, v) }

func zeroed(o *Output) {
	if o.Array != nil {
		clear(o.Data)
	}
}

// fill gives an array where there should be none.
func fill(o *Output) {
	if o.Array == nil {
		o.Array = ndarray.New(lookup("f32"), []int64{1})
	}
}

func swapped(_ *Call, r *Result) {
	if n := len(r.Outputs); n > 1 {
		r.Outputs[n-1], r.Outputs[n-2] = r.Outputs[n-2], r.Outputs[n-1]
	}
}

func nudgeSaved(_ *Call, r *Result) {
	if len(r.Outputs) > 1 && r.Outputs[1].Array != nil && r.Outputs[1].Len() > 0 {
		put(&r.Outputs[1], 7)
	}
}

// deaf computes although the rules object with a text.
func deaf(text string) func(*Call) (*Result, error) {
	return func(call *Call) (*Result, error) {
		if len(call.Inputs) > len(call.Op.Inputs) || call.Extra != nil {
			return nil, nil
		}
		fault := expect(rule.Compile(call.Op), call, &fake{name: "fake"}, "cpu")
		if fault == nil || !strings.Contains(fault.Text, text) {
			return nil, nil
		}
		r := &Result{Outputs: make([]Output, len(slots(call.Op)))}
		for _, t := range call.tensors() {
			r.Buffers = append(r.Buffers, bytes.Clone(t.Data))
		}
		return r, nil
	}
}

// refuseOffsets takes two arrays in one buffer for overlapping ones.
func refuseOffsets(call *Call) (*Result, error) {
	list := call.tensors()
	if len(list) > 1 && len(list[0].Data) > 0 && len(list[1].Data) > 0 && &list[0].Data[0] == &list[1].Data[0] {
		text := call.Op.Name + ": x: expected memory apart from total, got overlapping memory"
		return &Result{Error: &CallError{Class: "ValueError", Text: text}}, nil
	}
	return nil, nil
}

func refuseUnsaved(call *Call) (*Result, error) {
	if call.Out[1] == nil {
		return &Result{Error: &CallError{Class: "ValueError", Text: "norm: scale: expected an array, got None"}}, nil
	}
	return nil, nil
}
