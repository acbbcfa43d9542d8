package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
)

// torchOp is an op as its module in the PyTorch adaptor sees it.
type torchOp struct{ function }

// Guard is the condition under which the registered op may be called at once. Attributes have to be of the very types that
// PyTorch's schema names, since it converts others, or refuses them, in its own way.
func (v *torchOp) Guard() string {
	var conditions []boolean
	if v.HasOut() {
		conditions = append(conditions, test("out is None"))
	}
	conditions = append(conditions, test("_rt.direct()"))
	for i := range v.Attrs {
		a := &v.Attrs[i]
		conditions = append(conditions, plainAttr(a))
	}
	return ifHead("    ", allOf(conditions))
}

// plainAttr asks whether an attr is of the type that the schema names.
func plainAttr(a *opdef.Attr) boolean {
	var right boolean
	switch {
	case a.Type == "dtype":
		right = test("isinstance(" + a.Name + ", _rt.torch.dtype)")
	case a.Len != 0:
		right = test(fmt.Sprintf("(%s := _rt.ints(%s, %d)) is not None", fastInts(a.Name), a.Name, max(a.Len, 0)))
	default:
		right = test("type(" + a.Name + ") is " + a.Type)
	}
	if a.MayBeNone() || a.Type == "dtype" && a.HasDefault {
		return anyOf([]boolean{test(a.Name + " is None"), right})
	}
	return right
}

// Untracked is the condition that no derivative is wanted. The inputs are asked first: what is no tensor has no answer.
func (v *torchOp) Untracked() string {
	var tracked []boolean
	for _, a := range v.Inputs {
		condition := test(a.Name + ".requires_grad")
		if a.Optional {
			condition = allOf([]boolean{test(a.Name + " is not None"), condition})
		}
		tracked = append(tracked, condition)
	}
	return ifHead("            ", anyOf([]boolean{not(anyOf(tracked)), test("not _rt.grad_enabled()")}))
}

// Node says whether a call becomes a node of a graph of gradients where they are wanted. An op that computes a derivative is
// one too: only its own gradient may fail.
func (v *torchOp) Node() bool { return v.Gradient != nil || v.DerivedFrom() != nil }

// Raw are the statements that call the registered op and return the results. It returns no overwritten arguments, and empty
// tensors for outputs that a call lacks.
func (v *torchOp) Raw() []string {
	const depth = 16
	indent := strings.Repeat(" ", depth)
	var absent []string
	for _, out := range v.Returned() {
		if out.PresentIf != "" {
			absent = append(absent, "if "+out.PresentIf+" is None:", step+out.Name+" = None")
		}
	}
	if len(absent) == 0 && len(v.Mutated()) == 0 {
		return []string{bracketed(indent, "return _direct(", v.rawArguments(), ")")[depth:]}
	}
	call := node{"_direct(", leaves(v.rawArguments()), ")"}
	first := call.print(indent, "")
	if outs := opdef.ArgNames(v.Returned()); len(outs) > 0 {
		first = assignment(indent, outs, call)
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
	return bracketed(strings.Repeat(" ", 12), "return _op.node(", v.rawArguments(), ")")[12:]
}

// bumps are the statements that count the changes of the inputs that the op overwrites.
func (v *torchOp) bumps() []string {
	if mutated := v.Mutated(); len(mutated) > 0 {
		return []string{"_rt.bump(" + tuple(opdef.ArgNames(mutated)) + ")"}
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
