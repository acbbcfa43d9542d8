package conformance

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// writesMemory reports whether the op writes into memory that the user has: not where arrays never change.
func writesMemory(caller Caller) bool { return abilitiesOf(caller).Writes }

// wrongMemory are inputs that the op cannot overwrite: read-only ones, layouts that kernels do not take, elements that
// share a place, and arguments that share memory. The rules tell the errors.
func wrongMemory(c *Case, caller Caller) []fault {
	if !writesMemory(caller) {
		return nil
	}
	var out []fault
	for i := range c.Op.Inputs {
		x := c.Inputs[i]
		if !c.Op.Inputs[i].Mutated || x == nil {
			continue
		}
		for kind, bad := range misplaced(x) {
			out = append(out, fault{
				kind: kind, arg: c.Op.Inputs[i].Name, phase: phaseInput + phasesPerInput*i + phaseOfMemory,
				spoil: func(call *Call) { call.Inputs[i] = bad },
			})
		}
		out = append(out, shared(c, i)...)
	}
	return out
}

// misplaced are arrays of the right elements in memory that cannot be overwritten.
func misplaced(x *ndarray.Array) map[string]*Tensor {
	out := map[string]*Tensor{"mutated read-only": {Array: x, ReadOnly: true}}
	for _, layout := range ndarray.Layouts {
		if view := layout.Apply(x); view != nil {
			out["mutated "+layout.Name] = &Tensor{Array: view}
		}
	}
	return out
}

// shared puts a mutated input into the memory of each other input: as the same object, and shifted by one element. Pairs
// of mutated inputs come once, from the first of them.
func shared(c *Case, i int) []fault {
	var out []fault
	for j, other := range c.Inputs {
		x := c.Inputs[i]
		if other == nil || j == i || c.Op.Inputs[j].Mutated && j < i {
			continue
		}
		add := func(kind string, a, b *Tensor) {
			out = append(out, fault{
				kind: kind + " as " + c.Op.Inputs[j].Name, arg: c.Op.Inputs[i].Name, phase: phaseApart, whole: true,
				spoil: func(call *Call) { call.Inputs[i], call.Inputs[j] = a, b },
			})
		}
		if x.DType == other.DType && list(x.Shape) == list(other.Shape) {
			same := &Tensor{Array: x}
			add("same object", same, same)
		}
		a, b := inOneMemory(x, other, 1)
		add("shifted memory", a, b)
	}
	return out
}

// inOneMemory lays two arrays into the same memory, the second one some elements behind the first, whose elements it holds.
func inOneMemory(first, second *ndarray.Array, behind int64) (*Tensor, *Tensor) {
	size := ndarray.ItemSize(second.DType)
	memory := make([]byte, max(int64(len(first.Bytes())), (second.Len()+behind)*size))
	copy(memory[behind*size:], second.Bytes())
	copy(memory, first.Bytes())
	lay := func(a *ndarray.Array, offset int64) *Tensor {
		return &Tensor{Array: &ndarray.Array{
			DType: a.DType, Shape: a.Shape, Strides: ndarray.DenseStrides(a.Shape), Offset: offset, Data: memory,
		}}
	}
	return lay(first, 0), lay(second, behind)
}

// wrongPresence are output arrays where there is no output, and missing ones where there is.
func wrongPresence(c *Case, caller Caller) []fault {
	var out []fault
	add := func(kind string, i int, whole bool, spoil func(*Call)) {
		out = append(out, fault{kind: kind, arg: c.Op.Outputs[i].Name, phase: phasePresence, whole: whole, spoil: spoil})
	}
	firstSaved := slices.IndexFunc(c.Op.Outputs, func(a opdef.Arg) bool { return a.Saved })
	for i, o := range c.Op.Outputs {
		absent := func(call *Call) { call.Out[i] = nil }
		if input := c.Op.InputIndex(o.PresentIf); o.PresentIf != "" {
			add("output missing", i, false, absent)
			add("output too many", i, true, func(call *Call) { call.Inputs[input] = nil })
		}
		if o.Saved && isBare(caller) && len(c.Op.Outputs)-firstSaved > 1 {
			add("saved output missing", i, i == firstSaved, absent)
		}
	}
	return out
}

// wrongCount are too many arrays for the outputs, none at all, and a list in the place of one array or of a tuple.
func wrongCount(c *Case, caller Caller, results []*ndarray.Array) []fault {
	if isBare(caller) {
		return nil
	}
	names := returned(c.Op)
	arrays := "1 array"
	if len(names) > 1 {
		arrays = fmt.Sprintf("%d arrays", len(names))
	}
	add := func(kind, class, arg, expected, got string, v any) fault {
		return fault{
			kind: kind, arg: "out", phase: phaseCount, whole: true,
			want: &rule.Fault{Class: class, Text: fmt.Sprintf("%s: %s: expected %s, got %s", c.Op.Name, arg, expected, got)},
			spoil: func(call *Call) {
				call.Out = nil
				call.Extra = map[string]any{"out": v}
			},
		}
	}
	many := tuple{}
	for range len(names) + 1 {
		many = append(many, &Tensor{Array: results[names[0]]})
	}
	out := []fault{
		add("too many outputs", "ValueError", "out", arrays, strconv.Itoa(len(many)), many),
		add("no outputs", "ValueError", "out", arrays, "0", tuple{}),
	}
	if len(names) > 1 {
		return append(out, add("list of outputs", "ValueError", "out", arrays, "1", []any(many[1:])))
	}
	return append(out, add("list for an output", "TypeError", c.Op.Outputs[0].Name, caller.Word(), "list", []any(many[1:])))
}

// sharedOutputs gives the memory of one output to another one.
func sharedOutputs(c *Case, caller Caller, results []*ndarray.Array) []fault {
	var out []fault
	for i, o := range results[:len(c.Op.Outputs)] {
		for k, other := range results[:i] {
			if o == nil || other == nil || c.Op.Outputs[i].Saved && !isBare(caller) {
				continue
			}
			a, b := inOneMemory(other, o, 0)
			out = append(out, fault{
				kind: fmt.Sprintf("memory of output %d", k), arg: c.Op.Outputs[i].Name, phase: phaseOutput, whole: true,
				spoil: func(call *Call) { call.Out[k], call.Out[i] = a, b },
			})
		}
	}
	return out
}
