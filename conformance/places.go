package conformance

import (
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// checkMisaligned moves arrays one element away from where allocators put them. A kernel that needs more says so, dispatch
// finds another one, and the results stay the same.
func checkMisaligned(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		plain, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		moved := c
		for i, x := range c.Inputs {
			if x != nil && x.Len() > 0 {
				moved = moved.with(i, ndarray.Guarded(x, 1, guardByte), t.Op.Inputs[i].Name+" moved")
			}
		}
		got, call, err := t.movedCall(moved)
		if err == nil {
			t.identical(call, moved.Name, got, plain)
		} else if err = proceed(err); err != nil {
			return err
		}
		// Dispatch chooses, also where the kernel of this row had to decline.
		if got, call, err = t.with("").movedCall(moved); err != nil {
			return err
		}
		t.guarded(call, moved.Name, got)
		return t.matches(call, moved, got)
	})
}

// movedCall calls with outputs one element away, too, where the caller gives them.
func (t *T) movedCall(c *Case) (*Result, *Call, error) {
	call, err := t.call(t.Caller, c)
	if err != nil {
		return nil, nil, err
	}
	if isBare(t.Caller) {
		call.Out, err = outputArrays(c, true, func(o *ndarray.Array) *ndarray.Array { return ndarray.Guarded(o, guardElements+1, guardByte) })
		if err != nil {
			return nil, nil, err
		}
	}
	result, err := t.Call(call, c.Name)
	if err != nil {
		return nil, nil, err
	}
	if result = t.succeeded(call, c.Name, result); result == nil {
		return nil, nil, errAccounted
	}
	return result, call, nil
}

// checkOutputStrides gives inputs every layout, one layout at a time: real results are dense, or keep the strides of what
// is overwritten, and what a framework says without computing is the same.
func checkOutputStrides(t *T) error {
	return t.eachPresence(func(c *Case) error {
		return forEach(laidOutCases(c, "transposed", "sliced", "stepped", "expanded", "reversed"), func(view *Case) error {
			if _, fakes := t.Caller.(transformer); fakes && transforms(t.Op, t.Caller) == nil {
				return t.faked(view)
			}
			call, result, err := t.right(t.Caller, view)
			if err != nil {
				return err
			}
			t.shaped(call, view.Name, view, result)
			return nil
		})
	})
}

// stridedResults holds where results have strides that a caller can see.
func stridedResults(op *opdef.Op, caller Caller) error {
	if isBare(caller) {
		return skip("the caller gives the arrays for the results")
	}
	return strided(op, caller)
}

// strided holds where arrays can lie anywhere: those that nobody may write are made by the framework alone.
func strided(_ *opdef.Op, caller Caller) error {
	if !writesMemory(caller) {
		return unsupported("the framework places its arrays itself, and they have no strides")
	}
	return nil
}

// farStride is a number of elements that 32 bits do not hold; odd, so that rows lie at all alignments.
const farStride = 1<<31 + 1

// checkFarApart puts the rows of each input further apart than 32-bit offsets reach.
func checkFarApart(t *T) error {
	tried := false
	err := t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		plain, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		for i, x := range c.Inputs {
			// Of few rows: the memory between them is reserved.
			axis := -1
			if x != nil {
				axis = slices.IndexFunc(x.Shape, func(n int64) bool { return n > 1 && n < 8 })
			}
			if axis < 0 || axis == x.Rank()-1 && t.Op.Inputs[i].Stride != "any" || x.Len() == 0 {
				continue
			}
			tried = true
			if err := proceed(t.farApart(c, plain, i, axis)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !tried {
		return skip("no input has rows")
	}
	return err
}

func (t *T) farApart(c *Case, plain *Result, i, axis int) error {
	x := c.Inputs[i]
	far := &ndarray.Array{DType: x.DType, Shape: x.Shape, Strides: slices.Clone(ndarray.DenseStrides(x.Shape))}
	far.Strides[axis] = farStride
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	name := c.Name + ", " + t.Op.Inputs[i].Name + " far apart"
	call.Kernel = t.forced()
	result, err := t.watched("far", call, name, map[string]any{"input": int64(i), "axis": int64(axis), "stride": int64(farStride)})
	if err != nil {
		return err
	}
	described := call.clone()
	described.Inputs[i] = &Tensor{Array: far}
	if fault := t.memoryFault(described); fault != nil {
		t.raised(call, name, result, fault)
		return nil
	}
	if result = t.succeeded(call, name, result); result != nil {
		t.identical(call, name, result, plain)
	}
	return nil
}
