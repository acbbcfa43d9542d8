package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/view"
	"github.com/opcast/opcast/internal/opdef"
)

// torchOp is an op as its module in the PyTorch adaptor sees it.
type torchOp struct{ function }

// Guard is the condition on PyTorch's state under which the kernel may be called at once.
func (v *torchOp) Guard() string {
	var conditions []boolean
	if v.HasOut() {
		conditions = append(conditions, test("out is None"))
	}
	conditions = append(conditions, v.dtypesGiven()...)
	conditions = append(conditions, tests([]string{
		"not _rt.compiling()", "not _rt.function_mode()", "_rt.forward_ad._current_level < 0", "not _rt.profiler._is_profiler_enabled",
	})...)
	return ifHead("    ", allOf(conditions))
}

// Plain is the rest of the condition: tensors of a kind that the op has seen. The test that knows the kinds aborts the
// process for nested tensors, so these are told apart first.
func (v *torchOp) Plain() string {
	var conditions, optional []boolean
	var required []string
	for _, a := range v.Inputs {
		whole := test("not " + a.Name + ".is_nested")
		if !a.Optional {
			required = append(required, a.Name)
			conditions = append(conditions, whole)
			continue
		}
		known := test(fmt.Sprintf("_plain[%d][0](%s)", len(optional)+1, a.Name))
		optional = append(optional, anyOf([]boolean{test(a.Name + " is None"), allOf([]boolean{whole, known})}))
	}
	known := "_known"
	if v.Known() == "" {
		known = "_plain[0][0]"
	}
	conditions = append(conditions, test(known+"("+strings.Join(required, ", ")+")"))
	return ifHead("            ", allOf(append(conditions, optional...)))
}

// Known is the target that a kind of tensors is taken apart to: its test, and how to allocate results and scratch on its
// device; "" where the call allocates nothing.
func (v *torchOp) Known() string {
	switch {
	case len(v.Scratch) > 0:
		return "_known, _empty, _scratch"
	case len(v.Returned()) > 0:
		return "_known, _empty, _"
	}
	return ""
}

// Node is the condition under which a plain call becomes a node of a graph of gradients, or "". An op that computes a
// derivative is one too: only its own gradient may fail. Calls that may lack an input go the general way, which takes a microsecond longer.
func (v *torchOp) Node() string {
	if v.Gradient == nil && v.DerivedFrom() == nil || v.Required() < len(v.Inputs) {
		return ""
	}
	return "_rt.grad_enabled() and _op.tracked(" + strings.Join(v.inputNames(), ", ") + ")"
}

// Arguments are the inputs and attrs as one list.
func (v *torchOp) Arguments() string {
	return strings.Join(append(v.inputNames(), v.attrNames(allAttrs, "")...), ", ")
}

// Bumps are the statements that count the changes of the inputs that the op overwrites.
func (v *torchOp) Bumps() []string {
	var always, lines []string
	for _, a := range v.Mutated() {
		if a.Optional {
			lines = append(lines, "if "+a.Name+" is not None:", step+"_rt.bump("+tuple([]string{a.Name})+")")
		} else {
			always = append(always, a.Name)
		}
	}
	if len(always) > 0 {
		lines = append([]string{"_rt.bump(" + tuple(always) + ")"}, lines...)
	}
	return lines
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

// Allocate prints the lines that make the outputs and the scratch.
func (v *torchOp) Allocate() []string {
	lines := v.fastShapes(v.Returned(), 16)
	for i := range v.Outputs {
		out := &v.Outputs[i]
		switch {
		case out.Saved:
		case out.PresentIf != "":
			lines = append(lines, out.Name+" = None", "if "+out.PresentIf+" is not None:")
			lines = append(lines, view.Indent(step, v.allocate(out, "_empty", 20))...)
		default:
			lines = append(lines, v.allocate(out, "_empty", 16)...)
		}
	}
	if len(v.Scratch) == 0 {
		return lines
	}
	more := slices.DeleteFunc(v.fastShapes(v.Scratch, 20), func(l string) bool {
		target, _, _ := strings.Cut(l, " = ")
		return slices.ContainsFunc(lines, func(known string) bool { return strings.HasPrefix(known, target+" = ") })
	})
	for i := range v.Scratch {
		more = append(more, v.allocate(&v.Scratch[i], "_scratch", 20)...)
	}
	return append(append(lines, v.noScratch(), "if _scratch is not None:"), view.Indent(step, more)...)
}

// allocate makes an array with the given function, in code of the given indentation.
func (v *torchOp) allocate(a *opdef.Arg, function string, depth int) []string {
	by := strings.Repeat(" ", depth)
	layout := fmt.Sprintf("_%s_shape, _%s_strides", a.Name, a.Name)
	shape, long := v.fastShape(a.Type), tupleNode("_"+a.Name+"_shape = ", leaves(texts(v.fastItems(a.Type)))).print(by, "")
	if twin := v.twin(a); twin != "" {
		shape = twin + ".shape"
		long = fmt.Sprintf("%s_%s_shape = %s", by, a.Name, shape)
	}
	lines := []string{layout + " = _rt.layouts[" + shape + "]"}
	if len(by+lines[0]) > lineLength {
		lines = []string{long[depth:], fmt.Sprintf("%s = _rt.layouts[_%s_shape]", layout, a.Name)}
	}
	args := append(strings.Split(layout, ", "), v.fastDType(a.Type, "_rt.torch.%s"))
	return append(lines, bracketed(by, a.Name+" = "+function+"(", args, ")")[depth:])
}

// Call is the call of the kernel.
func (v *torchOp) Call() string { return v.kernelCall(16) }
