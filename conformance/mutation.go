package conformance

import (
	"bytes"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// written expects the inputs that the op overwrites to hold the results, in place, with nothing around their elements
// touched, and to be the results themselves. JAX's arrays keep their bytes, and its results are new arrays.
func (t *T) written(call *Call, name string, result *Result) {
	for at, o := range result.present() {
		s := slots(t.Op)[at]
		if s.input < 0 {
			continue
		}
		x, _ := call.Inputs[s.input].(*Tensor)
		number := call.number(x)
		after := result.Buffers[number]
		switch {
		case !writesMemory(t.Caller):
			if o.Same >= 0 {
				t.Fail(call, name, "the result for %s is the argument, which is immutable", s.Name)
			}
			if !bytes.Equal(after, x.Data) {
				t.Fail(call, name, "%s was changed, though it was not donated", s.Name)
			}
		case o.Same != number && call.Probe == "":
			t.Fail(call, name, "the result for %s is not the argument", s.Name)
		default:
			t.inPlace(call, name, s, x, o, after)
		}
	}
}

// inPlace compares the memory behind an overwritten argument with what it should be: the memory before, with the elements
// of the result in their places. Arguments that share a buffer are looked at together.
func (t *T) inPlace(call *Call, name string, s slot, x *Tensor, o Output, after []byte) {
	if len(x.Data) == 0 {
		return
	}
	got, want := bytes.Clone(after), bytes.Clone(x.Data)
	for i, v := range call.Inputs {
		if other, ok := v.(*Tensor); ok && t.Op.Inputs[i].Mutated && len(other.Data) > 0 && &other.Data[0] == &x.Data[0] {
			blank(got, other.Array)
			blank(want, other.Array)
		}
	}
	if !bytes.Equal(got, want) {
		t.Fail(call, name, "wrote beside the elements of %s", s.Name)
	}
	view := *x.Array
	view.Data = after
	if text := sameBits(s.Name, &view, o.Array); text != "" {
		t.Fail(call, name, "was not overwritten in place: %s", text)
	}
}

// blank zeroes the elements of an array in a copy of its memory.
func blank(memory []byte, a *ndarray.Array) {
	size := ndarray.ItemSize(a.DType)
	a.Positions(func(at int64) { clear(memory[at*size : (at+1)*size]) })
}

// checkMutated calls with every kind of size, with guard bytes around what is overwritten: the arguments change, in place,
// to what is returned, and nothing else does.
func checkMutated(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, func(c *Case) error {
		guarded := c
		for i, x := range c.Inputs {
			if x != nil && t.Op.Inputs[i].Mutated && writesMemory(t.Caller) {
				guarded = guarded.with(i, ndarray.Guarded(x, guardElements, guardByte), t.Op.Inputs[i].Name+" guarded")
			}
		}
		call, result, err := t.right(t.Caller, guarded)
		if err != nil {
			return err
		}
		t.written(call, c.Name, result)
		for at, o := range result.present() {
			s := slots(t.Op)[at]
			if s.input >= 0 && o.Len() > 0 && bytes.Equal(o.Bytes(), c.Inputs[s.input].Bytes()) {
				t.Fail(call, c.Name, "%s did not change", s.Name)
			}
		}
		return t.matches(call, c, result)
	})
}

// checkSideBySide puts two arguments of one shape, of which one is overwritten, into the columns of one buffer, one
// beside the other with a column to spare: they do not overlap, so where strides are allowed that is a right call.
func checkSideBySide(t *T) error {
	found := false
	err := t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		for i := range c.Inputs {
			for j := range c.Inputs {
				halves := columns(c, i, j)
				if halves == nil {
					continue
				}
				found = true
				if err := proceed(t.sideBySide(c, halves, i, j)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && !found {
		return skip("no two arguments, one of them overwritten, have the same shape")
	}
	return err
}

// columns are inputs i and j as halves of a buffer; nil if they do not fit or neither, or only j, is overwritten.
func columns(c *Case, i, j int) []*ndarray.Array {
	a, b := c.Inputs[i], c.Inputs[j]
	if i == j || !c.Op.Inputs[i].Mutated || a == nil || b == nil || a.Rank() == 0 || a.DType != b.DType ||
		list(a.Shape) != list(b.Shape) || c.Op.Inputs[j].Mutated && j < i {
		return nil
	}
	wide := slices.Clone(a.Shape)
	last := len(wide) - 1
	wide[last] = 2*wide[last] + 1
	memory := ndarray.New(a.DType, wide)
	var out []*ndarray.Array
	for k, x := range []*ndarray.Array{a, b} {
		half := &ndarray.Array{
			DType: a.DType, Shape: a.Shape, Strides: memory.Strides, Offset: int64(k) * a.Shape[last], Data: memory.Data,
		}
		size, values, next := ndarray.ItemSize(a.DType), x.Bytes(), int64(0)
		half.Positions(func(at int64) {
			copy(memory.Data[at*size:(at+1)*size], values[next:next+size])
			next += size
		})
		out = append(out, half)
	}
	return out
}

func (t *T) sideBySide(c *Case, halves []*ndarray.Array, i, j int) error {
	want, err := t.baseline(t.Caller, c)
	if err != nil {
		return err
	}
	changed := c.with(i, halves[0], t.Op.Inputs[i].Name+" left").with(j, halves[1], t.Op.Inputs[j].Name+" right")
	return t.likeDense(changed, want)
}

// checkSameObject passes one array for two arguments: that gives what two equal arrays give, or is refused where one of
// the two is overwritten.
func checkSameObject(t *T) error {
	found := false
	err := t.eachCase(func(d dtypes) []plan { return []plan{base(d), squarePlan(t.Op, d)} }, func(c *Case) error {
		for i, a := range c.Inputs {
			for j, b := range c.Inputs[:i] {
				if a == nil || b == nil || a.DType != b.DType || list(a.Shape) != list(b.Shape) {
					continue
				}
				found = true
				same := c.with(i, b, t.Op.Inputs[i].Name+" equal to "+t.Op.Inputs[j].Name)
				if err := proceed(t.sameObject(same, i, j)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && !found {
		return skip("no two arguments have the same dtype and shape")
	}
	return err
}

// squarePlan makes all sizes equal, so that arguments of different dims have one shape.
func squarePlan(op *opdef.Op, d dtypes) plan {
	p := plan{name: "square", dtypes: d, batch: []int64{}, sizes: map[string]int64{}}
	for _, s := range symbols(op) {
		p.sizes[s] = 4
	}
	return p
}

func (t *T) sameObject(c *Case, i, j int) error {
	want, err := t.baseline(t.Caller, c.with(i, c.Inputs[i].Dense(), "a copy"))
	if err != nil {
		return err
	}
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	call.Inputs[i] = call.Inputs[j]
	got, err := t.Call(call, c.Name)
	if err != nil {
		return err
	}
	if fault := t.memoryFault(call); fault != nil {
		t.raised(call, c.Name, got, fault)
		return nil
	}
	if got = t.succeeded(call, c.Name, got); got != nil {
		if err := t.agrees(call, c, c.Name, got, want); err != nil {
			return err
		}
		t.unchanged(call, c.Name, got)
	}
	return nil
}

// memoryFault is the error of a call that is right but for where its arrays lie: the rules tell about what the op writes,
// and the backend refuses inputs that are not dense enough.
func (t *T) memoryFault(call *Call) *rule.Fault {
	if fault := expect(rule.Compile(t.Op), call, t.Caller, t.env.device); fault != nil {
		return fault
	}
	return layoutFault(t.Caller, call)
}

// checkSaved asks for the results with and without those that only a gradient needs: the bits are the same.
func checkSaved(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, func(c *Case) error {
		want, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		call := newCall(c)
		if call.Out, err = poisoned(c, false); err != nil {
			return err
		}
		if err := call.workspace(t.Caller, c); err != nil {
			return err
		}
		got, err := t.Call(call, c.Name)
		if err != nil {
			return err
		}
		if got = t.succeeded(call, c.Name+", nothing saved", got); got == nil {
			return nil
		}
		t.identical(call, c.Name+", nothing saved", got, want)
		t.guarded(call, c.Name, got)
		return nil
	})
}

// checkRepeated calls twice: the bits are the same.
func checkRepeated(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, func(c *Case) error {
		want, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		return t.sameAs(c, want)
	})
}
