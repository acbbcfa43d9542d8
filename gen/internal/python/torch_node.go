package python

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/internal/language/opdef"
)

// A plain call of an op that has a gradient is a node: two functions, which call the op and its gradient op. They look
// the public functions up in the runtime, since an argument may be called like an op.

// Forward is the head of the function that computes a node.
func (v *torchOp) Forward() string {
	return nodeHead("_forward", append(v.inputNames(), v.attrNames(allAttrs, "")...))
}

// Compute is the statement that computes all outputs, those that only the gradient needs too.
func (v *torchOp) Compute() string {
	outs := opdef.ArgNames(v.Outputs)
	if slices.ContainsFunc(v.Outputs, func(a opdef.Arg) bool { return a.PresentIf != "" }) {
		return layout.Unpacking(layout.Step, outs, layout.List("_op.compute(", v.tuples(), ")"))
	}
	return layout.Assignment(layout.Step, outs, layout.List("_op.inside(", layout.Leaves(append(v.inputNames(), v.attrNames(allAttrs, "")...)), ")"))
}

// Failed is the statement that tells the runtime what the fast path has met.
func (v *torchOp) Failed() string {
	return layout.List("_op.failed(", append([]layout.Node{layout.Leaf("_fault")}, v.tuples()...), ")").Print(strings.Repeat(layout.Step, 3), "")
}

// FailedNumbers is the same where numbers are in the place of inputs.
func (v *torchOp) FailedNumbers() string {
	inputs := layout.List("_op.filled(", v.tuples()[:1], ")")
	return layout.List("_op.failed(", []layout.Node{layout.Leaf("_fault"), inputs, v.tuples()[1]}, ")").Print(strings.Repeat(layout.Step, 3), "")
}

// Made are the outputs that a node returns. What is saved for the gradient op is among them: else a derivative of the gradient
// would lose, without a word, what leads through it.
func (v *torchOp) Made() []string { return opdef.ArgNames(v.Outputs) }

// Return is the statement that returns them.
func (v *torchOp) Return() string { return layout.Returns(layout.Step, v.Made()) }

// Saves says whether a node returns more than a call does.
func (v *torchOp) Saves() bool { return len(v.Made()) > len(v.Returned()) }

// Save is the statement that keeps the arrays that the gradient op needs, or "".
func (v *torchOp) Save() string {
	if len(v.kept()) == 0 {
		return ""
	}
	return layout.Bracketed(layout.Step, "_ctx.save_for_backward(", v.kept(), ")")
}

// Restore is the statement that finds them again. It stands there for none, too: once they are freed, PyTorch says so.
func (v *torchOp) Restore() string {
	if len(v.kept()) == 0 {
		return layout.Step + "_ = _ctx.saved_tensors"
	}
	return layout.Unpacking(layout.Step, v.kept(), layout.Leaf("_ctx.saved_tensors"))
}

func (v *torchOp) kept() []string {
	return slices.DeleteFunc(opdef.ArgNames(v.Gradient.Inputs), func(name string) bool { return slices.Contains(v.grads(), name) })
}

// KeepAttrs is the statement that keeps the attrs that the gradient op needs, or "".
func (v *torchOp) KeepAttrs() string {
	if len(v.Gradient.AttrNames()) == 0 {
		return ""
	}
	return layout.Listed(layout.Step, "_ctx.attrs = ", v.Gradient.AttrNames())
}

// RestoreAttrs is the statement that finds them again, or "".
func (v *torchOp) RestoreAttrs() string {
	if len(v.Gradient.AttrNames()) == 0 {
		return ""
	}
	return layout.Unpacking(layout.Step, v.Gradient.AttrNames(), layout.Leaf("_ctx.attrs"))
}

// Backward is the head of the function that differentiates a node. Nothing leads back through what is saved.
func (v *torchOp) Backward() string {
	args := v.grads()
	for _, name := range v.Made()[len(args):] {
		args = append(args, "_"+v.GradPrefix()+name)
	}
	return nodeHead("_backward", args)
}

func (v *torchOp) grads() []string {
	out := opdef.ArgNames(v.Returned())
	for i, name := range out {
		out[i] = v.GradPrefix() + name
	}
	return out
}

// Differentiate is the statement that calls the gradient op.
func (v *torchOp) Differentiate() string {
	return v.calls(`_rt.ops["`+v.Gradient.Name+`"]`, v.Gradient)
}

// Gradients is the statement that returns a gradient for every argument, None where there is none. PyTorch drops those that
// nobody asked for; to ask which these are takes longer than to return them.
func (v *torchOp) Gradients() string {
	made := opdef.ArgNames(v.Gradient.Outputs)
	var items []string
	for _, name := range v.inputNames() {
		if grad := v.GradPrefix() + name; slices.Contains(made, grad) {
			items = append(items, grad)
		} else {
			items = append(items, "None")
		}
	}
	for range v.Attrs {
		items = append(items, "None")
	}
	return layout.Returns(layout.Step, items)
}

// calls is the statement that calls an op's public function and names its results.
func (v *torchOp) calls(owner string, op *opdef.Op) string {
	args := opdef.ArgNames(op.Inputs)
	for i, name := range args {
		if len(op.Order) > 0 {
			args[i] = name + "=" + name
		}
	}
	for _, name := range op.AttrNames() {
		args = append(args, name+"="+name)
	}
	names, before, function := opdef.ArgNames(op.Outputs), "", owner+".function"
	if len(layout.Step+strings.Join(names, ", ")+" = "+function+"(") > layout.LineLength {
		before, function = layout.Step+"_function = "+function+"\n", "_function" // ruff format would break the line in the subscript
	}
	return before + layout.Assignment(layout.Step, names, layout.List(function+"(", layout.Leaves(args), ")"))
}

func nodeHead(name string, args []string) string {
	items := []string{"_ctx: Any"}
	for _, a := range args {
		items = append(items, a+": Any")
	}
	return layout.Bracketed("", "def "+name+"(", items, ") -> Any:")
}
