package check

import (
	"bytes"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/results/report"
)

// ExpectInputsUnchanged expects every input that is not declared as mutated to hold its bytes.
func (t *T) ExpectInputsUnchanged(call *calls.Call, name string, result *calls.Result) {
	at := 0
	for i, v := range call.Inputs {
		x, ok := v.(*calls.Tensor)
		if !ok {
			continue
		}
		if at < len(result.Buffers) && !t.Op.Inputs[i].Mutated && !bytes.Equal(protectedBytes(call, x, x.Data), protectedBytes(call, x, result.Buffers[at])) {
			t.Fail(call, name, "%s was changed", t.Op.Inputs[i].Name)
		}
		at++
	}
}

// protectedBytes is what of an argument's memory must not change: all of it, but only its elements where something
// that the op overwrites lies in the same buffer.
func protectedBytes(call *calls.Call, x *calls.Tensor, memory []byte) []byte {
	for i, v := range call.Inputs {
		other, ok := v.(*calls.Tensor)
		if ok && call.Op.Inputs[i].Mutated && len(other.Data) > 0 && len(x.Data) > 0 && &other.Data[0] == &x.Data[0] {
			view := *x.Array
			view.Data = memory
			return view.Bytes()
		}
	}
	return memory
}

// ExpectOutputGuards expects the bytes around the given outputs, and around the scratch, to be as they were.
func (t *T) ExpectOutputGuards(call *calls.Call, name string, result *calls.Result) {
	for i, out := range call.Out {
		if out != nil {
			t.expectGuards(call, name, t.Op.Outputs[i].Name, out, result)
		}
	}
	for i, x := range call.Scratch {
		if x != nil {
			t.expectGuards(call, name, t.Op.Scratch[i].Name, x, result)
		}
	}
}

// ExpectOverwritten expects the inputs that the op overwrites to hold the results, in place, with nothing around their
// elements touched, and to be the results themselves. JAX's arrays keep their bytes, and its results are new arrays.
func (t *T) ExpectOverwritten(call *calls.Call, name string, result *calls.Result) {
	for at, o := range result.Existing() {
		s := cases.Slots(t.Op)[at]
		if s.Input < 0 {
			continue
		}
		x, _ := call.Inputs[s.Input].(*calls.Tensor)
		number := call.TensorIndex(x)
		after := result.Buffers[number]
		switch {
		case !calls.WritesMemory(t.Caller):
			if o.ArgumentIndex >= 0 {
				t.Fail(call, name, "the result for %s is the argument, which is immutable", s.Name)
			}
			if !bytes.Equal(after, x.Data) {
				t.Fail(call, name, "%s was changed, though it was not donated", s.Name)
			}
		case o.ArgumentIndex != number && call.Probe == "":
			t.Fail(call, name, "the result for %s is not the argument", s.Name)
		default:
			t.expectInPlace(call, name, s, x, o, after)
		}
	}
}

// expectInPlace compares the memory behind an overwritten argument with what it should be: the memory before, with the
// elements of the result in their places. Arguments that share a buffer are looked at together.
func (t *T) expectInPlace(call *calls.Call, name string, s cases.Slot, x *calls.Tensor, o calls.Output, after []byte) {
	if len(x.Data) == 0 {
		return
	}
	got, want := bytes.Clone(after), bytes.Clone(x.Data)
	for i, v := range call.Inputs {
		if other, ok := v.(*calls.Tensor); ok && t.Op.Inputs[i].Mutated && len(other.Data) > 0 && &other.Data[0] == &x.Data[0] {
			ZeroElements(got, other.Array)
			ZeroElements(want, other.Array)
		}
	}
	if !bytes.Equal(got, want) {
		t.Fail(call, name, "wrote beside the elements of %s", s.Name)
	}
	view := *x.Array
	view.Data = after
	if text := oracle.SameBits(s.Name, &view, o.Array); text != "" {
		t.Fail(call, name, "was not overwritten in place: %s", text)
	}
}

// ZeroElements zeroes the elements of an array in a copy of its memory.
func ZeroElements(memory []byte, a *ndarray.Array) {
	size := ndarray.ItemSize(a.DType)
	a.Positions(func(at int64) { clear(memory[at*size : (at+1)*size]) })
}

// ExpectedError is the error that the rules tell for a call; nil for a valid one.
func (t *T) ExpectedError(call *calls.Call) *rule.Error {
	return invalid.ExpectedError(rule.Compile(t.Op), call, t.Caller, t.Env.Device)
}

// ExpectCallBits makes a call and expects the bits of a result.
func (t *T) ExpectCallBits(call *calls.Call, name string, want *calls.Result) error {
	got, err := t.Call(call, name)
	if err != nil {
		return err
	}
	if got = t.ExpectSuccess(call, name, got); got != nil {
		t.ExpectSameBits(call, name, got, want)
		t.ExpectOutputGuards(call, name, got)
	}
	return nil
}

// expectGuards expects the guard bytes around arrays that were given to be as they were.
func (t *T) expectGuards(call *calls.Call, name, what string, x *calls.Tensor, result *calls.Result) {
	after := result.Buffers[call.TensorIndex(x)]
	edge := calls.GuardElements * ndarray.ItemSize(x.DType)
	if len(after) != len(x.Data) {
		t.Fail(call, name, "the memory of %s has %d bytes, want %d", what, len(after), len(x.Data))
		return
	}
	for place, part := range map[string][2]int64{
		"before": {0, edge}, "after": {int64(len(after)) - edge, int64(len(after))},
	} {
		if !bytes.Equal(after[part[0]:part[1]], x.Data[part[0]:part[1]]) {
			t.FailBecause(report.CauseOutside, call, name, "wrote %s the memory of %s", place, what)
		}
	}
}

// TakesStrides holds where arrays can lie anywhere: those that nobody may write are made by the framework alone.
func TakesStrides(_ *opdef.Op, caller calls.Caller) error {
	if !calls.WritesMemory(caller) {
		return Unsupported("the framework places its arrays itself, and they have no strides")
	}
	return nil
}
