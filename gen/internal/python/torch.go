package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/internal/language/opdef"
)

// torchOp is an op as its module in the PyTorch adaptor sees it.
type torchOp struct{ function }

// Guard is the condition under which the registered op may be called at once. Attributes have to be of the very types that
// PyTorch's schema names, since it converts others, or refuses them, in its own way.
func (v *torchOp) Guard() string { return layout.IfHead("    ", layout.AllOf(v.conditions())) }

// NumbersGuard is the condition of a call with numbers in the place of all inputs that may be some; "" where there are none.
func (v *torchOp) NumbersGuard() string {
	if !v.HasNumbers() {
		return ""
	}
	var conditions []layout.Boolean // the one that tensors break comes first
	for i := range v.Inputs {
		in := &v.Inputs[i]
		if !v.TakesNumber(in) {
			continue
		}
		condition := v.takesNumber(in)
		if in.Optional {
			condition = layout.AnyOf([]layout.Boolean{layout.Test(in.Name + " is None"), condition})
		}
		conditions = append(conditions, condition)
	}
	return layout.IfHead("    ", layout.AllOf(append(conditions, v.conditions()...)))
}

// conditions are those of a call of the registered op at once.
func (v *torchOp) conditions() []layout.Boolean {
	var conditions []layout.Boolean
	if v.HasOut() {
		conditions = append(conditions, layout.Test("out is None"))
	}
	conditions = append(conditions, layout.Test("_rt.direct()"))
	for i := range v.Attrs {
		a := &v.Attrs[i]
		conditions = append(conditions, plainAttr(a))
	}
	return conditions
}

// plainAttr asks whether an attr is of the type that the schema names.
func plainAttr(a *opdef.Attr) layout.Boolean {
	var right layout.Boolean
	switch {
	case a.Type == "dtype":
		right = layout.Test("isinstance(" + a.Name + ", _rt.torch.dtype)")
	case a.Len != 0:
		right = layout.Test(fmt.Sprintf("(%s := _rt.ints(%s, %d)) is not None", fastInts(a.Name), a.Name, max(a.Len, 0)))
	default:
		right = layout.Test("type(" + a.Name + ") is " + a.Type)
	}
	if a.MayBeNone() || a.Type == "dtype" && a.HasDefault {
		absent := a.Name + " is None"
		if a.Len != 0 {
			absent = fmt.Sprintf("(%s := %s) is None", fastInts(a.Name), a.Name) // the call passes that variable
		}
		return layout.AnyOf([]layout.Boolean{layout.Test(absent), right})
	}
	return right
}

// Untracked is the condition that no derivative is wanted. The inputs are asked first: what is no tensor has no answer.
func (v *torchOp) Untracked() string { return v.untracked(v.Inputs) }

// UntrackedNumbers is the same where numbers are in the place of inputs.
func (v *torchOp) UntrackedNumbers() string { return v.untracked(v.arrays()) }

// arrays are the inputs that cannot be numbers.
func (v *torchOp) arrays() []opdef.Arg {
	return slices.DeleteFunc(slices.Clone(v.Inputs), func(in opdef.Arg) bool { return v.TakesNumber(&in) })
}

func (v *torchOp) untracked(inputs []opdef.Arg) string {
	var tracked []layout.Boolean
	for _, a := range inputs {
		condition := layout.Test(a.Name + ".requires_grad")
		if a.Optional {
			condition = layout.AllOf([]layout.Boolean{layout.Test(a.Name + " is not None"), condition})
		}
		tracked = append(tracked, condition)
	}
	return layout.IfHead("            ", layout.AnyOf([]layout.Boolean{layout.Not(layout.AnyOf(tracked)), layout.Test("not _rt.grad_enabled()")}))
}

// Node says whether a call becomes a node of a graph of gradients where they are wanted. An op that computes a derivative is
// one too: only its own gradient may fail.
func (v *torchOp) Node() bool { return v.Gradient != nil || v.DerivedFrom() != nil }

// Raw are the statements that call the registered op and return the results. It returns no overwritten arguments, and empty
// tensors for outputs that a call lacks.
func (v *torchOp) Raw() []string { return v.raw("_direct(") }

// RawNumbers are the same with numbers in the place of inputs.
func (v *torchOp) RawNumbers() []string { return v.raw("_op.numbers(") }

func (v *torchOp) raw(function string) []string {
	const depth = 16
	indent := strings.Repeat(" ", depth)
	var absent []string
	for _, out := range v.Returned() {
		if out.PresentIf != "" {
			absent = append(absent, "if "+lacks(v.Op, &out, reading(out.PresentIf)).text+":", layout.Step+out.Name+" = None")
		}
	}
	if len(absent) == 0 && len(v.Mutated()) == 0 {
		return []string{layout.Bracketed(indent, "return "+function, v.rawArguments(), ")")[depth:]}
	}
	call := layout.List(function, layout.Leaves(v.rawArguments()), ")")
	first := call.Print(indent, "")
	if outs := opdef.ArgNames(v.Returned()); len(outs) > 0 {
		first = layout.Assignment(indent, outs, call)
	}
	lines := append([]string{first[depth:]}, v.bumps()...)
	return append(append(lines, absent...), v.resultsAt(depth)[depth:])
}

// rawArguments are all arguments as the registered op takes them.
func (v *torchOp) rawArguments() []string {
	args := v.inputNames()
	for i := range v.Attrs {
		a := &v.Attrs[i]
		if a.Len != 0 {
			args = append(args, fastInts(a.Name))
		} else {
			args = append(args, a.Name)
		}
	}
	return args
}

// Differentiable is the statement that makes a node of the call.
func (v *torchOp) Differentiable() string {
	return layout.Bracketed(strings.Repeat(" ", 12), "return _op.node(", v.rawArguments(), ")")[12:]
}

// bumps are the statements that count the changes of the inputs that the op overwrites.
func (v *torchOp) bumps() []string {
	if mutated := v.Mutated(); len(mutated) > 0 {
		return []string{"_rt.bump(" + layout.Tuple(opdef.ArgNames(mutated)) + ")"}
	}
	return nil
}

// Imports adds what the functions of a node are annotated with.
func (v *torchOp) Imports() []string {
	const line = "from typing import Any"
	out := v.function.Imports()
	if v.Gradient == nil || slices.Contains(out, line) {
		return out
	}
	if blank := slices.Index(out, ""); blank >= 0 {
		return slices.Insert(out, blank, line)
	}
	return append([]string{line, ""}, out...)
}
