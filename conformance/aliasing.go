package conformance

import (
	"bytes"

	"github.com/opcast/opcast/internal/ndarray"
)

// checkUnchanged compares the bytes of the inputs before and after calls, with results and with strides.
func checkUnchanged(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, func(c *Case) error {
		call, result, err := t.right(t.Caller, c)
		if err != nil || result == nil {
			return err
		}
		t.unchanged(call, c.Name, result)
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
		if at < len(result.Buffers) && !t.Op.Inputs[i].Mutated && !bytes.Equal(x.Data, result.Buffers[at]) {
			t.Fail(call, name, "%s was changed", t.Op.Inputs[i].Name)
		}
		at++
	}
}

// checkFresh expects outputs in memory of their own.
func checkFresh(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		call, result, err := t.right(t.Caller, c)
		if err != nil || result == nil {
			return err
		}
		inputs := len(call.tensors()) - len(call.Out)
		for i, o := range result.Outputs {
			for k, span := range result.Spans[:inputs] {
				if overlap(o.Span, span) {
					t.Fail(call, c.Name, "%s shares memory with array argument %d", t.Op.Outputs[i].Name, k)
				}
			}
			for k, other := range result.Outputs[:i] {
				if overlap(o.Span, other.Span) {
					t.Fail(call, c.Name, "%s shares memory with %s", t.Op.Outputs[i].Name, t.Op.Outputs[k].Name)
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
		if err != nil || want == nil {
			return err
		}
		call := newCall(c)
		if call.Out, err = poisoned(c); err != nil {
			return err
		}
		result, err := t.Call(call, c.Name)
		if err != nil || result == nil {
			return err
		}
		if result = t.succeeded(call, c.Name+", out=", result); result == nil {
			return nil
		}
		for i, o := range result.Outputs {
			if o.Given != i {
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
	if t.Caller.Name() != backendName {
		return t.baseline(t.Caller, c)
	}
	call := newCall(c)
	outputs, err := c.Outputs() // zeros
	if err != nil {
		return nil, err
	}
	for _, o := range outputs {
		call.Out = append(call.Out, &Tensor{Array: o})
	}
	result, err := t.Call(call, c.Name)
	if err != nil || result == nil {
		return nil, err
	}
	return t.succeeded(call, c.Name, result), nil
}

// guarded expects the bytes around the given outputs to be as they were.
func (t *T) guarded(call *Call, name string, result *Result) {
	first := len(call.tensors()) - len(call.Out)
	for i, out := range call.Out {
		after := result.Buffers[first+i]
		size := ndarray.ItemSize(out.DType)
		edge := guardElements * size
		if len(after) != len(out.Data) {
			t.Fail(call, name, "the memory of %s has %d bytes, want %d", t.Op.Outputs[i].Name, len(after), len(out.Data))
			continue
		}
		for place, part := range map[string][2]int64{
			"before": {0, edge}, "after": {int64(len(after)) - edge, int64(len(after))},
		} {
			if !bytes.Equal(after[part[0]:part[1]], out.Data[part[0]:part[1]]) {
				t.Fail(call, name, "wrote %s the memory of %s", place, t.Op.Outputs[i].Name)
			}
		}
	}
}
