package invalid

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// Memory are the changes of where inputs lie so that the op cannot overwrite them: read-only memory, layouts that kernels do
// not take, elements that share a place, and arguments that share memory. The rules tell the errors.
func Memory(c *cases.Case, caller calls.Caller) []Change {
	if !calls.WritesMemory(caller) {
		return nil
	}
	var out []Change
	for i := range c.Op.Inputs {
		x := c.Inputs[i]
		if !c.Op.Inputs[i].Mutated || x == nil {
			continue
		}
		for kind, bad := range misplaced(x) {
			out = append(out, Change{
				Kind: kind, Arg: c.Op.Inputs[i].Name, Phase: PhaseInput + phasesPerInput*i + phaseOfMemory,
				edit: func(call *calls.Call) { call.Inputs[i] = bad },
			})
		}
		out = append(out, shared(c, i)...)
	}
	return out
}

// misplaced are arrays of the right elements in memory that cannot be overwritten.
func misplaced(x *ndarray.Array) map[string]*calls.Tensor {
	out := map[string]*calls.Tensor{"mutated read-only": {Array: x, ReadOnly: true}}
	for _, layout := range ndarray.Layouts {
		if view := layout.Apply(x); view != nil {
			out["mutated "+layout.Name] = &calls.Tensor{Array: view}
		}
	}
	return out
}

// shared puts a mutated input into the memory of each other input: as the same object, and shifted by one element. Pairs
// of mutated inputs come once, from the first of them.
func shared(c *cases.Case, i int) []Change {
	var out []Change
	for j, other := range c.Inputs {
		x := c.Inputs[i]
		if other == nil || j == i || c.Op.Inputs[j].Mutated && j < i {
			continue
		}
		add := func(kind string, a, b *calls.Tensor) {
			out = append(out, Change{
				Kind: kind + " as " + c.Op.Inputs[j].Name, Arg: c.Op.Inputs[i].Name, Phase: PhaseOverlap, Alone: true,
				edit: func(call *calls.Call) { call.Inputs[i], call.Inputs[j] = a, b },
			})
		}
		if x.DType == other.DType && rule.List(x.Shape) == rule.List(other.Shape) {
			same := &calls.Tensor{Array: x}
			add("same object", same, same)
		}
		a, b := inOneMemory(x, other, 1)
		add("shifted memory", a, b)
	}
	return out
}

// inOneMemory lays two arrays into the same memory, the second one some elements behind the first, whose elements it holds.
func inOneMemory(first, second *ndarray.Array, behind int64) (*calls.Tensor, *calls.Tensor) {
	size := ndarray.ItemSize(second.DType)
	if behind*size >= int64(len(first.Bytes())) {
		behind = 0 // its elements are too wide
	}
	const widest = 16 // frameworks look at the memory as elements of either width
	length := max(int64(len(first.Bytes())), (second.Len()+behind)*size)
	memory := make([]byte, (length+widest-1)/widest*widest)
	copy(memory[behind*size:], second.Bytes())
	copy(memory, first.Bytes())
	lay := func(a *ndarray.Array, offset int64) *calls.Tensor {
		return &calls.Tensor{Array: &ndarray.Array{
			DType: a.DType, Shape: a.Shape, Strides: ndarray.DenseStrides(a.Shape), Offset: offset, Data: memory,
		}}
	}
	return lay(first, 0), lay(second, behind)
}

// outputPresence are output arrays where there is no output, and missing ones where there is.
func outputPresence(c *cases.Case, caller calls.Caller) []Change {
	var out []Change
	add := func(kind string, i int, whole bool, spoil func(*calls.Call)) {
		out = append(out, Change{Kind: kind, Arg: c.Op.Outputs[i].Name, Phase: phasePresence, Alone: whole, edit: spoil})
	}
	firstSaved := slices.IndexFunc(c.Op.Outputs, func(a opdef.Arg) bool { return a.Saved })
	for i, o := range c.Op.Outputs {
		absent := func(call *calls.Call) { call.Out[i] = nil }
		if o.PresentIf != "" {
			if calls.IsBare(caller) || len(cases.PublicOutputs(c.Op)) > 1 { // else no out= is given at all
				add("output missing", i, false, absent)
			}
			add("output too many", i, true, func(call *calls.Call) { withdraw(call, &o) })
		}
		if o.Saved && calls.IsBare(caller) && len(c.Op.Outputs)-firstSaved > 1 {
			add("saved output missing", i, i == firstSaved, absent)
		}
	}
	return out
}

// withdraw takes away what an output depends on.
func withdraw(call *calls.Call, out *opdef.Arg) {
	if call.Op.Switch(out) != nil {
		call.Attrs[out.PresentIf] = false
	} else {
		call.Inputs[call.Op.InputIndex(out.PresentIf)] = nil
	}
}

// outputCount are too many arrays for the outputs, none at all, and a list in the place of one array or of a tuple.
func outputCount(c *cases.Case, caller calls.Caller, results []*ndarray.Array) []Change {
	if calls.IsBare(caller) {
		return nil
	}
	names := cases.PublicOutputs(c.Op)
	arrays := "1 array"
	if len(names) > 1 {
		arrays = fmt.Sprintf("%d arrays", len(names))
	}
	add := func(kind, class, arg, expected, got string, v any) Change {
		return Change{
			Kind: kind, Arg: "out", Phase: PhaseCount, Alone: true,
			Expected: &rule.Error{Class: class, Text: fmt.Sprintf("%s: %s: expected %s, got %s", c.Op.Name, arg, expected, got)},
			edit: func(call *calls.Call) {
				call.Out = nil
				call.Extra = map[string]any{"out": v}
			},
		}
	}
	many := calls.Tuple{}
	for range len(names) + 1 {
		many = append(many, &calls.Tensor{Array: results[names[0]]})
	}
	out := []Change{
		add("too many outputs", "ValueError", "out", arrays, strconv.Itoa(len(many)), many),
		add("no outputs", "ValueError", "out", arrays, "0", calls.Tuple{}),
	}
	if len(names) > 1 {
		return append(out, add("list of outputs", "ValueError", "out", arrays, "1", []any(many[1:])))
	}
	return append(out, add("list for an output", "TypeError", c.Op.Outputs[0].Name, caller.ArrayWord(), "list", []any(many[1:])))
}

// sharedOutputs gives the memory of one output to another one.
func sharedOutputs(c *cases.Case, caller calls.Caller, results []*ndarray.Array) []Change {
	var out []Change
	for i, o := range results[:len(c.Op.Outputs)] {
		for k, other := range results[:i] {
			if o == nil || other == nil || c.Op.Outputs[i].Saved && !calls.IsBare(caller) {
				continue
			}
			a, b := inOneMemory(other, o, 0)
			out = append(out, Change{
				Kind: fmt.Sprintf("memory of output %d", k), Arg: c.Op.Outputs[i].Name, Phase: phaseOutput, Alone: true,
				edit: func(call *calls.Call) { call.Out[k], call.Out[i] = a, b },
			})
		}
	}
	return out
}
