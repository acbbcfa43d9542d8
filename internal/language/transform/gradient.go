package transform

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
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
	// FromTangent: the tangent of an input.
	FromTangent
)

// Operand is one input of an op that computes a derivative.
type Operand struct {
	Name string
	From Source
	// Index counts the inputs or the outputs (saved ones too) of the op whose derivative it is.
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
	g := &Gradient{Op: op.Gradient, Attrs: op.Gradient.AttrNames()}
	prefix := op.GradPrefix()
	for _, in := range g.Op.Inputs {
		g.Operands = append(g.Operands, operand(op, in.Name, FromGrad))
	}
	for _, in := range op.Inputs {
		g.Grads = append(g.Grads, index(g.Op.Outputs, prefix+in.Name))
	}
	return g
}

// Tangent is how an op's tangents are computed.
type Tangent struct {
	Op *opdef.Op
	// Operands are the inputs of Op, in order; Attrs the names of its attributes, each of which has the call's value.
	Operands []Operand
	Attrs    []string
	// Tangents has an entry for each output of the op: the output of Op that is its tangent, or -1.
	Tangents []int
}

// TangentOf is the plan for the tangents of an op, or nil where it has none.
func TangentOf(op *opdef.Op) *Tangent {
	if op.Tangent == nil {
		return nil
	}
	t := &Tangent{Op: op.Tangent, Attrs: op.Tangent.AttrNames()}
	prefix := op.TangentPrefix()
	for _, in := range t.Op.Inputs {
		t.Operands = append(t.Operands, operand(op, in.Name, FromTangent))
	}
	for _, out := range op.Outputs {
		t.Tangents = append(t.Tangents, index(t.Op.Outputs, prefix+out.Name))
	}
	return t
}

// operand finds a name among the inputs and outputs of op, then among the derivatives that arrive: the order in which
// definitions are checked.
func operand(op *opdef.Op, name string, other Source) Operand {
	if i := op.InputIndex(name); i >= 0 {
		return Operand{Name: name, From: FromInput, Index: i}
	}
	if i := index(op.Outputs, name); i >= 0 {
		return Operand{Name: name, From: FromOutput, Index: i}
	}
	if other == FromTangent {
		return Operand{Name: name, From: other, Index: index(op.Inputs, strings.TrimPrefix(name, op.TangentPrefix()))}
	}
	return Operand{Name: name, From: other, Index: index(op.Outputs, strings.TrimPrefix(name, op.GradPrefix()))}
}

func index(args []opdef.Arg, name string) int {
	return slices.IndexFunc(args, func(a opdef.Arg) bool { return a.Name == name })
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
