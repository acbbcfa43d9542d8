package conformance

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// scratch are zeroed arrays for the work space of a call.
func (c *Case) scratch() ([]*ndarray.Array, error) {
	var out []*ndarray.Array
	for i := range c.Op.Scratch {
		s := &c.Op.Scratch[i]
		shape, err := c.Shape(s.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		out = append(out, c.zeroed(c.DType(s.Type), shape))
	}
	return out, nil
}

// garbage are arrays for the work space of a call, full of a byte and with guard elements around them: what frameworks
// allocate holds anything.
func garbage(c *Case, fill byte) ([]*Tensor, error) {
	arrays, err := c.scratch()
	var out []*Tensor
	for _, a := range arrays {
		out = append(out, &Tensor{Array: ndarray.Guarded(filled(a, fill), guardElements, guardByte)})
	}
	return out, err
}

// workspace gives a call what only bare callers pass.
func (c *Call) workspace(caller Caller, of *Case) error {
	var err error
	if isBare(caller) {
		c.Scratch, err = garbage(of, fillByte)
	}
	return err
}

// hasScratch holds where a caller passes work space.
func hasScratch(op *opdef.Op, caller Caller) error {
	if len(op.Scratch) == 0 {
		return skip("the op has no scratch")
	}
	if !isBare(caller) {
		return unsupported("a public call has no scratch: the adaptor allocates it")
	}
	return nil
}

// checkScratch calls with work space full of different bytes: the bits are the same, and nothing around it is written.
// Without work space a kernel that takes none gives them too, and op_call, which allocates it; others say what they lack.
func checkScratch(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, func(c *Case) error {
		want, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		err = forEach([]byte{0, 0x3f}, func(fill byte) error { return t.filled(c, fill, want) })
		if err != nil {
			return err
		}
		return t.without(c, want)
	})
}

// without calls without scratch, and without each of several: right where the kernel takes none, else an error.
func (t *T) without(c *Case, want *Result) error {
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	if t.mayLack() {
		call.Scratch = nil
		return t.sameBitsOf(call, c.Name+", no scratch", want)
	}
	for i, x := range call.Scratch {
		lacking := call.clone()
		lacking.Scratch[i] = nil
		name := c.Name + ", no " + t.Op.Scratch[i].Name
		result, err := t.Call(lacking, name)
		if err == nil {
			t.raised(lacking, name, result, lacksScratch(t.Op, i, x.Array))
		} else if err = proceed(err); err != nil {
			return err
		}
	}
	return nil
}

// lacksScratch is the error of a call without the scratch that its kernel takes.
func lacksScratch(op *opdef.Op, i int, a *ndarray.Array) *rule.Fault {
	text := fmt.Sprintf("%s: %s: expected a scratch array %s%s, got None", op.Name, op.Scratch[i].Name, a.DType.Long, list(a.Shape))
	return &rule.Fault{Class: "ValueError", Text: text}
}

// filled calls with scratch full of a byte.
func (t *T) filled(c *Case, fill byte, want *Result) error {
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	if call.Scratch, err = garbage(c, fill); err != nil {
		return err
	}
	return t.sameBitsOf(call, fmt.Sprintf("%s, scratch full of %#x", c.Name, fill), want)
}

// sameBitsOf makes a call and expects the bits of a result.
func (t *T) sameBitsOf(call *Call, name string, want *Result) error {
	got, err := t.Call(call, name)
	if err != nil {
		return err
	}
	if got = t.succeeded(call, name, got); got != nil {
		t.identical(call, name, got, want)
		t.guarded(call, name, got)
	}
	return nil
}

// mayLack reports whether calls of the present row may leave the scratch out.
func (t *T) mayLack() bool {
	k := t.variant()
	return t.Caller.Name() == opCallName || k != nil && !k.Scratch
}

// wrongScratch are calls with unfit work space, one array at a time. The rules tell the errors, but for one that is missing:
// whether that matters depends on the kernel.
func wrongScratch(c *Case, caller Caller, device string) ([]fault, error) {
	arrays, err := c.scratch()
	if err != nil || !isBare(caller) {
		return nil, err
	}
	var out []fault
	for i, a := range arrays {
		name := c.Op.Scratch[i].Name
		add := func(kind string, want *rule.Fault, spoil func(call *Call)) {
			out = append(out, fault{kind: kind, arg: name, phase: phaseScratch, whole: true, want: want, spoil: spoil})
		}
		if caller.Name() != opCallName && needsScratch(c, device) {
			add("scratch missing", lacksScratch(c.Op, i, a), func(call *Call) { call.Scratch[i] = nil })
		}
		for kind, bad := range unfit(c, caller, device, a) {
			add(kind, nil, func(call *Call) { call.Scratch[i] = bad })
		}
		for k, in := range c.Inputs {
			if in != nil && in.Len() > 0 && a.Len() > 0 {
				add("scratch in "+c.Op.Inputs[k].Name, nil, func(call *Call) { call.Inputs[k], call.Scratch[i] = inOneMemory(in, a, 0) })
			}
		}
		for k, other := range arrays[:i] {
			add("scratch in "+c.Op.Scratch[k].Name, nil, func(call *Call) { call.Scratch[k], call.Scratch[i] = inOneMemory(other, a, 0) })
		}
	}
	return out, nil
}

// needsScratch reports whether the kernel that dispatch chooses for a call works in scratch.
func needsScratch(c *Case, device string) bool {
	for _, k := range kernelsOn(c.Op, device) {
		if fits := c.taken(&k); fits != no {
			return fits == yes && k.Scratch
		}
	}
	return false
}

// unfit are arrays that cannot be the given scratch, by what is wrong with them.
func unfit(c *Case, caller Caller, device string, a *ndarray.Array) map[string]*Tensor {
	longer := append(slices.Clone(a.Shape), 1)
	other := lookup("i8")
	if a.DType == other {
		other = lookup("f32")
	}
	out := map[string]*Tensor{
		"scratch shape": {Array: ndarray.New(a.DType, longer)}, "scratch dtype": {Array: ndarray.New(other, a.Shape)},
	}
	if elsewhere := otherDevice(caller, device); elsewhere != "" {
		out["scratch device"] = &Tensor{Array: a, Device: elsewhere}
	}
	for _, layout := range ndarray.Layouts {
		if view := layout.Apply(a); view != nil && !view.IsDense() {
			out["scratch "+layout.Name] = &Tensor{Array: view}
		}
	}
	return out
}

// intact expects the guard bytes around arrays that were given to be as they were.
func (t *T) intact(call *Call, name, what string, x *Tensor, result *Result) {
	after := result.Buffers[call.number(x)]
	edge := guardElements * ndarray.ItemSize(x.DType)
	if len(after) != len(x.Data) {
		t.Fail(call, name, "the memory of %s has %d bytes, want %d", what, len(after), len(x.Data))
		return
	}
	for place, part := range map[string][2]int64{
		"before": {0, edge}, "after": {int64(len(after)) - edge, int64(len(after))},
	} {
		if !bytes.Equal(after[part[0]:part[1]], x.Data[part[0]:part[1]]) {
			t.Fail(call, name, "wrote %s the memory of %s", place, what)
		}
	}
}
