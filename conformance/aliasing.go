package conformance

import (
	"bytes"

	"github.com/opcast/opcast/internal/ndarray"
)

// checkUnchanged compares the bytes of the inputs before and after calls, with results and with strides.
func checkUnchanged(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, func(c *Case) error {
		call, result, err := t.right(t.Caller, c)
		if err != nil {
			return err
		}
		t.unchanged(call, c.Name, result)
		t.written(call, c.Name, result)
		return nil
	})
}

// unchanged expects every input that is not declared as mutated to hold its bytes.
func (t *T) unchanged(call *Call, name string, result *Result) {
	at := 0
	for i, v := range call.Inputs {
		x, ok := v.(*Tensor)
		if !ok {
			continue
		}
		if at < len(result.Buffers) && !t.Op.Inputs[i].Mutated && !bytes.Equal(kept(call, x, x.Data), kept(call, x, result.Buffers[at])) {
			t.Fail(call, name, "%s was changed", t.Op.Inputs[i].Name)
		}
		at++
	}
}

// kept is what of an argument's memory must not change: all of it, but only its elements where something that the op
// overwrites lies in the same buffer.
func kept(call *Call, x *Tensor, memory []byte) []byte {
	for i, v := range call.Inputs {
		other, ok := v.(*Tensor)
		if ok && call.Op.Inputs[i].Mutated && len(other.Data) > 0 && len(x.Data) > 0 && &other.Data[0] == &x.Data[0] {
			view := *x.Array
			view.Data = memory
			return view.Bytes()
		}
	}
	return memory
}

// checkFresh expects outputs in memory of their own.
func checkFresh(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		call, result, err := t.right(t.Caller, c)
		if err != nil {
			return err
		}
		inputs := len(call.tensors()) - len(call.given()) - len(call.Scratch)
		for i, o := range result.present() {
			for k, span := range result.Spans[:inputs] {
				if overlap(o.Span, span) && (o.Same != k || slots(t.Op)[i].input < 0) {
					t.Fail(call, c.Name, "%s shares memory with array argument %d", slots(t.Op)[i].Name, k)
				}
			}
			for k, other := range result.present() {
				if k < i && overlap(o.Span, other.Span) {
					t.Fail(call, c.Name, "%s shares memory with %s", slots(t.Op)[i].Name, slots(t.Op)[k].Name)
				}
			}
		}
		return nil
	})
}

func overlap(a, b [2]uint64) bool { return a[0] < b[1] && b[0] < a[1] }

// checkOut passes output arrays full of NaN, surrounded by guard bytes: they are the results, every element is written
// and nothing around them.
func checkOut(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, func(c *Case) error {
		want, err := t.fresh(c)
		if err != nil {
			return err
		}
		call := newCall(c)
		if call.Out, err = poisoned(c, isBare(t.Caller)); err != nil {
			return err
		}
		if err := call.workspace(t.Caller, c); err != nil {
			return err
		}
		result, err := t.Call(call, c.Name)
		if err != nil {
			return err
		}
		if result = t.succeeded(call, c.Name+", out=", result); result == nil {
			return nil
		}
		for i, o := range result.present() {
			if slots(t.Op)[i].output >= 0 && o.Given != i {
				t.Fail(call, c.Name, "the result is not the array given for %s", t.Op.Outputs[i].Name)
			}
		}
		t.identical(call, c.Name+", out=", result, want)
		t.guarded(call, c.Name, result)
		return nil
	})
}

// fresh is the result in memory that the adaptor allocates; the backend has only memory that is given, so a second fill
// byte stands for other memory.
func (t *T) fresh(c *Case) (*Result, error) {
	if !isBare(t.Caller) {
		return t.baseline(t.Caller, c)
	}
	call := newCall(c)
	var err error
	if call.Out, err = outputArrays(c, true, func(zeros *ndarray.Array) *ndarray.Array { return zeros }); err != nil {
		return nil, err
	}
	if err := call.workspace(t.Caller, c); err != nil {
		return nil, err
	}
	result, err := t.Call(call, c.Name)
	if err != nil {
		return nil, err
	}
	if result = t.succeeded(call, c.Name, result); result == nil {
		return nil, errAccounted
	}
	return result, nil
}

// guarded expects the bytes around the given outputs, and around the scratch, to be as they were.
func (t *T) guarded(call *Call, name string, result *Result) {
	for i, out := range call.Out {
		if out != nil {
			t.intact(call, name, t.Op.Outputs[i].Name, out, result)
		}
	}
	for i, x := range call.Scratch {
		if x != nil {
			t.intact(call, name, t.Op.Scratch[i].Name, x, result)
		}
	}
}
