package conformance

import (
	"fmt"
	"iter"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/transform"
)

// slot is one thing that an op writes: an output or an input that it overwrites. Results and references list them in
// this order: outputs, saved ones included, then mutated inputs.
type slot struct {
	*opdef.Arg
	// output and input are its places among the outputs and the inputs; one of them is -1.
	output, input int
}

func slots(op *opdef.Op) []slot {
	var out []slot
	for i := range op.Outputs {
		out = append(out, slot{&op.Outputs[i], i, -1})
	}
	for i := range op.Inputs {
		if op.Inputs[i].Mutated {
			out = append(out, slot{&op.Inputs[i], -1, i})
		}
	}
	return out
}

// mutates reports whether an op overwrites any of its inputs.
func mutates(op *opdef.Op) bool {
	return slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.Mutated })
}

// returned are the outputs of a public call, by their places: those that are not saved.
func returned(op *opdef.Op) []int {
	var out []int
	for i := range op.Outputs {
		if !op.Outputs[i].Saved {
			out = append(out, i)
		}
	}
	return out
}

// exists reports whether an output exists when the given test says which inputs do.
func exists(op *opdef.Op, output int, given func(input int) bool) bool {
	condition := op.Outputs[output].PresentIf
	return condition == "" || given(op.InputIndex(condition))
}

// has reports whether the call gives the slot: every output but one whose input is absent.
func (c *Case) has(s slot) bool {
	return s.output < 0 || exists(c.Op, s.output, func(i int) bool { return c.Inputs[i] != nil })
}

// results are zeroed arrays of the inferred dtypes and shapes, one per slot; nil where the call does not give it.
func (c *Case) results() ([]*ndarray.Array, error) {
	var out []*ndarray.Array
	for _, s := range slots(c.Op) {
		if !c.has(s) {
			out = append(out, nil)
			continue
		}
		shape, err := c.Shape(s.Type)
		if err != nil {
			return nil, err
		}
		out = append(out, c.zeroed(c.DType(s.Type), shape))
	}
	return out, nil
}

// returned are the slots that a public call of the case gives back, in order.
func (c *Case) returned() []slot {
	return slices.DeleteFunc(slots(c.Op), func(s slot) bool { return s.output >= 0 && s.Saved || !c.has(s) })
}

// gradient is the call of the gradient op that belongs to a case. Outputs and cotangents have an entry for each output of the
// op, which is nil where there is none.
func (c *Case) gradient(link *transform.Gradient, outputs, cotangents []*ndarray.Array) *Case {
	g := &Case{Op: link.Op, Name: c.Name + ", gradient", DTypes: c.DTypes, Batch: c.Batch, Sizes: c.Sizes, Attrs: map[string]any{}}
	for _, name := range link.Attrs {
		if v, given := c.Attrs[name]; given {
			g.Attrs[name] = v
		}
	}
	from := map[transform.Source][]*ndarray.Array{
		transform.FromInput: c.Inputs, transform.FromOutput: outputs, transform.FromGrad: cotangents,
	}
	for _, operand := range link.Operands {
		g.Inputs = append(g.Inputs, from[operand.From][operand.Index])
	}
	return g
}

// empty reports whether everything that the call writes is empty.
func (c *Case) empty() bool {
	results, err := c.results()
	return err == nil && !slices.ContainsFunc(results, func(a *ndarray.Array) bool { return a != nil && a.Len() > 0 })
}

// present walks the results that are there.
func (r *Result) present() iter.Seq2[int, Output] {
	return func(yield func(int, Output) bool) {
		for i, o := range r.Outputs {
			if o.Array != nil && !yield(i, o) {
				return
			}
		}
	}
}

// expects are the slots that a caller returns for a call: all from the backend, whose absent ones are those without
// memory; elsewhere all that are not saved.
func expects(call *Call, caller Caller) []slot {
	return slices.DeleteFunc(slots(call.Op), func(s slot) bool {
		return !isBare(caller) && s.output >= 0 && s.Saved
	})
}

// arrange gives every slot its result, or says why that is not possible.
func arrange(call *Call, caller Caller, got []Output) ([]Output, string) {
	want := expects(call, caller)
	if len(got) != len(want) {
		return nil, fmt.Sprintf("returned %d things, want %d", len(got), len(want))
	}
	out := make([]Output, len(slots(call.Op)))
	for i, s := range want {
		wanted := s.output < 0 || exists(call.Op, s.output, func(in int) bool { return call.Inputs[in] != nil })
		if isBare(caller) && s.output >= 0 {
			wanted = call.Out[s.output] != nil
		}
		switch {
		case wanted && got[i].Array == nil:
			return nil, "returned None for " + s.Name
		case !wanted && got[i].Array != nil:
			return nil, "returned an array for " + s.Name + ", want None"
		}
		at := s.output
		if at < 0 {
			at = slices.IndexFunc(slots(call.Op), func(other slot) bool { return other.input == s.input })
		}
		out[at] = got[i]
	}
	return out, ""
}
