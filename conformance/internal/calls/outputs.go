package calls

import (
	"fmt"
	"iter"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// poison pre-fills output memory, so that an element which is never written shows: NaN in every float type, and integers that are
// large. Those of the same bytes would be -1, which often stands for none.
func poison(a *ndarray.Array) byte {
	if ndarray.IsFloat(a.DType.Part()) {
		return 0xff
	}
	return 0x7e
}

// PoisonedOutputs are arrays for the outputs of a case, with saved ones or without, and guard elements around them.
func PoisonedOutputs(c *cases.Case, saved bool) ([]*Tensor, error) {
	return OutputArrays(c, saved, func(o *ndarray.Array) *ndarray.Array {
		return ndarray.Guarded(filled(o, poison(o)), GuardElements, GuardByte)
	})
}

// filled fills the memory of an array.
func filled(a *ndarray.Array, fill byte) *ndarray.Array {
	ndarray.Fill(a.Data, fill)
	return a
}

// OutputArrays makes an array for every output of a case; absent ones are nil.
func OutputArrays(c *cases.Case, saved bool, change func(*ndarray.Array) *ndarray.Array) ([]*Tensor, error) {
	results, err := c.ZeroResults()
	if err != nil {
		return nil, err
	}
	var out []*Tensor
	for i, o := range results[:len(c.Op.Outputs)] {
		if o == nil || c.Op.Outputs[i].Saved && !saved {
			out = append(out, nil)
			continue
		}
		out = append(out, &Tensor{Array: change(o)})
	}
	return out, nil
}

// Guards around output memory.
const (
	GuardElements = 32
	GuardByte     = 0xa5
)

// FilledScratch are arrays for the work space of a call, full of a byte and with guard elements around them: what frameworks
// allocate holds anything.
func FilledScratch(c *cases.Case, fill byte) ([]*Tensor, error) {
	return guardedScratch(c, func(*ndarray.Array) byte { return fill })
}

func guardedScratch(c *cases.Case, fill func(*ndarray.Array) byte) ([]*Tensor, error) {
	arrays, err := c.Scratch()
	var out []*Tensor
	for _, a := range arrays {
		out = append(out, &Tensor{Array: ndarray.Guarded(filled(a, fill(a)), GuardElements, GuardByte)})
	}
	return out, err
}

// AddScratch gives a call what only bare callers pass.
func (c *Call) AddScratch(caller Caller, of *cases.Case) error {
	var err error
	if IsBare(caller) {
		c.Scratch, err = guardedScratch(of, poison)
	}
	return err
}

// Existing walks the results that are there.
func (r *Result) Existing() iter.Seq2[int, Output] {
	return func(yield func(int, Output) bool) {
		for i, o := range r.Outputs {
			if o.Array != nil && !yield(i, o) {
				return
			}
		}
	}
}

// ReturnedSlots are the slots that a caller returns for a call. From the backend these are all outputs, whose absent ones
// are those without memory, and the overwritten inputs that are given; elsewhere all that are not saved.
func ReturnedSlots(call *Call, caller Caller) []cases.Slot {
	return slices.DeleteFunc(cases.Slots(call.Op), func(s cases.Slot) bool {
		if IsBare(caller) {
			return s.Output < 0 && call.Inputs[s.Input] == nil
		}
		return s.Output >= 0 && s.Saved
	})
}

// AlignOutputs gives every slot its result, or says why that is not possible.
func AlignOutputs(call *Call, caller Caller, got []Output) ([]Output, string) {
	want := ReturnedSlots(call, caller)
	if len(got) != len(want) {
		return nil, fmt.Sprintf("returned %d things, want %d", len(got), len(want))
	}
	out := make([]Output, len(cases.Slots(call.Op)))
	for i, s := range want {
		wanted := call.Op.Exists(s.Arg, func(name string) bool { return call.Inputs[call.Op.InputIndex(name)] != nil }, call.Attrs)
		if IsBare(caller) && s.Output >= 0 {
			wanted = call.Out[s.Output] != nil
		}
		switch {
		case wanted && got[i].Array == nil:
			return nil, "returned None for " + s.Name
		case !wanted && got[i].Array != nil:
			return nil, "returned an array for " + s.Name + ", want None"
		}
		at := s.Output
		if at < 0 {
			at = slices.IndexFunc(cases.Slots(call.Op), func(other cases.Slot) bool { return other.Input == s.Input })
		}
		out[at] = got[i]
	}
	return out, ""
}
