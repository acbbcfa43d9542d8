package cases

import (
	"slices"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/transform"
)

// Slot is one thing that an op writes: an output or an input that it overwrites. Results and references list them in
// this order: outputs, saved ones included, then mutated inputs.
type Slot struct {
	*opdef.Arg
	// Output and Input are its places among the outputs and the inputs; one of them is -1.
	Output, Input int
}

// Slots are the places of the results of an op: its outputs, then the inputs that it overwrites.
func Slots(op *opdef.Op) []Slot {
	var out []Slot
	for i := range op.Outputs {
		out = append(out, Slot{&op.Outputs[i], i, -1})
	}
	for i := range op.Inputs {
		if op.Inputs[i].Mutated {
			out = append(out, Slot{&op.Inputs[i], -1, i})
		}
	}
	return out
}

// OverwritesInputs reports whether an op overwrites any of its inputs.
func OverwritesInputs(op *opdef.Op) bool {
	return slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.Mutated })
}

// PublicOutputs are the outputs of a public call, by their places: those that are not saved.
func PublicOutputs(op *opdef.Op) []int {
	var out []int
	for i := range op.Outputs {
		if !op.Outputs[i].Saved {
			out = append(out, i)
		}
	}
	return out
}

// Has reports whether the call gives the slot.
func (c *Case) Has(s Slot) bool {
	return c.Op.Exists(s.Arg, func(name string) bool { return c.Inputs[c.Op.InputIndex(name)] != nil }, c.Attrs)
}

// ZeroResults are zeroed arrays of the inferred dtypes and shapes, one per slot; nil where the call does not give it.
func (c *Case) ZeroResults() ([]*ndarray.Array, error) {
	var out []*ndarray.Array
	for _, s := range Slots(c.Op) {
		if !c.Has(s) {
			out = append(out, nil)
			continue
		}
		shape, err := c.ShapeOf(s.Arg)
		if err != nil {
			return nil, err
		}
		out = append(out, c.zeros(c.DType(s.Type), shape))
	}
	return out, nil
}

// Returned are the slots that a public call of the case gives back, in order.
func (c *Case) Returned() []Slot {
	return slices.DeleteFunc(Slots(c.Op), func(s Slot) bool { return s.Output >= 0 && s.Saved || !c.Has(s) })
}

// Gradient is the call of the gradient op that belongs to a case. Outputs and cotangents have an entry for each output of the
// op, which is nil where there is none.
func (c *Case) Gradient(link *transform.Gradient, outputs, cotangents []*ndarray.Array) *Case {
	from := map[transform.Source][]*ndarray.Array{
		transform.FromInput: c.Inputs, transform.FromOutput: outputs, transform.FromGrad: cotangents,
	}
	return c.derived("gradient", link.Op, link.Operands, link.Attrs, from)
}

// Tangent is the call of the op of tangents that belongs to a case. Outputs have an entry for each output of the op, tangents
// one for each input, which are nil where there is none.
func (c *Case) Tangent(link *transform.Tangent, outputs, tangents []*ndarray.Array) *Case {
	from := map[transform.Source][]*ndarray.Array{
		transform.FromInput: c.Inputs, transform.FromOutput: outputs, transform.FromTangent: tangents,
	}
	return c.derived("tangents", link.Op, link.Operands, link.Attrs, from)
}

func (c *Case) derived(
	name string, op *opdef.Op, operands []transform.Operand, attrs []string, from map[transform.Source][]*ndarray.Array,
) *Case {
	d := &Case{Op: op, Name: c.Name + ", " + name, DTypes: c.DTypes, Batch: c.Batch, Leads: c.Leads, Sizes: c.Sizes, Attrs: map[string]any{}}
	for _, name := range attrs {
		if v, given := c.Attrs[name]; given {
			d.Attrs[name] = v
		}
	}
	for _, operand := range operands {
		d.Inputs = append(d.Inputs, from[operand.From][operand.Index])
	}
	return d
}

// Empty reports whether everything that the call writes is empty.
func (c *Case) Empty() bool {
	results, err := c.ZeroResults()
	return err == nil && !slices.ContainsFunc(results, func(a *ndarray.Array) bool { return a != nil && a.Len() > 0 })
}
