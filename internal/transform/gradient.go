package transform

import (
	"slices"

	"github.com/opcast/opcast/internal/opdef"
)

// Source says from where a gradient op gets an input.
type Source int

// The sources.
const (
	// FromGrad: the gradient that arrives for an output.
	FromGrad Source = iota
	// FromInput, FromOutput: an input or output of the forward call. Saved outputs are outputs.
	FromInput
	FromOutput
)

// Operand is one input of a gradient op.
type Operand struct {
	Name string
	From Source
	// Index counts the inputs or the outputs (saved ones too) of the forward op.
	Index int
}

// Gradient is how an op's gradient is computed.
type Gradient struct {
	Op *opdef.Op
	// Operands are the inputs of Op, in order.
	Operands []Operand
	// Attrs are the names of its attributes, each of which has the forward call's value.
	Attrs []string
	// Grads has an entry for each input of the forward op: the output of Op that is its gradient, or -1.
	Grads []int
}

// GradientOf is the plan for the gradient of an op, or nil where it has none.
func GradientOf(op *opdef.Op) *Gradient {
	if op.Gradient == nil {
		return nil
	}
	g := &Gradient{Op: op.Gradient}
	for _, in := range g.Op.Inputs {
		g.Operands = append(g.Operands, operand(op, in.Name))
	}
	for _, a := range g.Op.Attrs {
		g.Attrs = append(g.Attrs, a.Name)
	}
	for _, in := range op.Inputs {
		g.Grads = append(g.Grads, outputIndex(g.Op, func(out string) bool { return out == opdef.GradName(in.Name) }))
	}
	return g
}

// operand finds a name among the inputs and outputs of op, then among the gradients of its outputs: the order in which
// definitions are checked.
func operand(op *opdef.Op, name string) Operand {
	if i := op.InputIndex(name); i >= 0 {
		return Operand{Name: name, From: FromInput, Index: i}
	}
	if i := outputIndex(op, func(out string) bool { return out == name }); i >= 0 {
		return Operand{Name: name, From: FromOutput, Index: i}
	}
	return Operand{Name: name, From: FromGrad, Index: outputIndex(op, func(out string) bool { return opdef.GradName(out) == name })}
}

func outputIndex(op *opdef.Op, is func(string) bool) int {
	return slices.IndexFunc(op.Outputs, func(a opdef.Arg) bool { return is(a.Name) })
}

// Differentiable lists the inputs of op that have a gradient, NotDifferentiable the others.
func Differentiable(op *opdef.Op) []string { return withGradient(op, true) }

// NotDifferentiable lists the inputs of op that have no gradient.
func NotDifferentiable(op *opdef.Op) []string { return withGradient(op, false) }

func withGradient(op *opdef.Op, want bool) []string {
	g := GradientOf(op)
	var out []string
	for i, in := range op.Inputs {
		if (g != nil && g.Grads[i] >= 0) == want {
			out = append(out, in.Name)
		}
	}
	return out
}
