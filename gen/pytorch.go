package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
)

// torchPackage emits the PyTorch adaptor.
func (g *generator) torchPackage() error {
	for _, op := range g.ops {
		if err := g.render("torch/op.py.tmpl", g.moduleFile("torch", op), &torchOp{pyOp{op, frameworks["torch"]}}); err != nil {
			return err
		}
	}
	if err := g.layersFile(); err != nil {
		return err
	}
	return g.adaptorPackage("torch")
}

// torchOp is an op as its module in the PyTorch adaptor sees it.
type torchOp struct{ pyOp }

// Guard is the condition on PyTorch's state under which the kernel may be called at once.
func (v *torchOp) Guard() string {
	var conditions []pyBoolean
	if v.HasOut() {
		conditions = append(conditions, test("out is None"))
	}
	conditions = append(conditions, v.dtypesGiven()...)
	conditions = append(conditions, tests([]string{
		"not _rt.compiling()", "not _rt.function_mode()", "_rt.forward_ad._current_level < 0", "not _rt.profiler._is_profiler_enabled",
	})...)
	return pyIf("    ", allOf(conditions))
}

// Plain is the rest of the condition: tensors of a kind that the op has seen. The test that knows the kinds aborts the
// process for nested tensors, so these are told apart first.
func (v *torchOp) Plain() string {
	var conditions, optional []pyBoolean
	var required []string
	for _, a := range v.Inputs {
		whole := test("not " + a.Name + ".is_nested")
		if !a.Optional {
			required = append(required, a.Name)
			conditions = append(conditions, whole)
			continue
		}
		known := test(fmt.Sprintf("_plain[%d](%s)", len(optional)+1, a.Name))
		optional = append(optional, anyOf([]pyBoolean{test(a.Name + " is None"), allOf([]pyBoolean{whole, known})}))
	}
	conditions = append(conditions, test("_plain[0]("+strings.Join(required, ", ")+")"))
	return pyIf("            ", allOf(append(conditions, optional...)))
}

// Node is the condition under which a plain call becomes a node of a graph of gradients, or "". A gradient op is one too:
// only its own gradient fails. Calls that may lack an input go the general way, which takes a microsecond longer.
func (v *torchOp) Node() string {
	if v.Gradient == nil && v.GradientOf == nil || v.Required() < len(v.Inputs) {
		return ""
	}
	return "_rt.grad_enabled() and _op.tracked(" + strings.Join(v.inputNames(), ", ") + ")"
}

// Arguments are the inputs and attrs as one list.
func (v *torchOp) Arguments() string {
	return strings.Join(append(v.inputNames(), v.attrNames(allAttrs, "")...), ", ")
}

// Written is the tuple of the inputs that the op overwrites, or "".
func (v *torchOp) Written() string {
	if len(v.Mutated()) == 0 {
		return ""
	}
	return pyTuple(opdef.ArgNames(v.Mutated()))
}

// Imports adds what the functions of a node are annotated with.
func (v *torchOp) Imports() []string {
	const line = "from typing import Any"
	out := v.pyOp.Imports()
	if v.Gradient == nil || slices.Contains(out, line) {
		return out
	}
	if blank := slices.Index(out, ""); blank >= 0 {
		return slices.Insert(out, blank, line)
	}
	return append([]string{line, ""}, out...)
}

// Allocate prints the lines that make the outputs.
func (v *torchOp) Allocate() []string {
	lines := v.fastShapes()
	for i := range v.Outputs {
		out := &v.Outputs[i]
		switch {
		case out.Saved:
		case slices.ContainsFunc(v.KernelList(), func(k opdef.Kernel) bool { return k.Device != "cpu" }):
			lines = append(lines, v.allocate(out))
		case out.PresentIf != "":
			lines = append(lines, out.Name+" = None", "if "+out.PresentIf+" is not None:")
			lines = append(lines, indent(pyIndent, v.allocateOnCPU(out, 20))...)
		default:
			lines = append(lines, v.allocateOnCPU(out, 16)...)
		}
	}
	return lines
}

// allocateOnCPU makes an output in code of the given indentation.
func (v *torchOp) allocateOnCPU(out *opdef.Arg, depth int) []string {
	shape := v.fastShape(out.Type)
	if twin := v.twin(out); twin != "" {
		shape = twin + ".shape"
	}
	layout := fmt.Sprintf("_%s_shape, _%s_strides", out.Name, out.Name)
	args := append(strings.Split(layout, ", "), v.fastDType(out.Type, "_rt.torch.%s"))
	return []string{
		layout + " = _rt.layouts[" + shape + "]",
		pyLayout(strings.Repeat(" ", depth), out.Name+" = _rt.empty(", args, ")")[depth:],
	}
}

// allocate makes an output on the device of the inputs.
func (v *torchOp) allocate(out *opdef.Arg) string {
	twin := v.twin(out)
	if twin != "" && v.Inputs[v.InputIndex(twin)].Stride == "" {
		return out.Name + " = " + whenPresent(out, fmt.Sprintf("_rt.empty_like(%s)", twin))
	}
	like := v.Inputs[0].Name
	args := []string{twin + ".shape"} // empty_like would follow its strides
	if twin == "" {
		args[0] = v.fastShape(out.Type)
	}
	// new_empty takes an absent dtype from its tensor.
	dtype := v.fastDType(out.Type, "_rt.torch.%s")
	if attr, found := strings.CutPrefix(dtype, like+".dtype if "); found {
		dtype, _, _ = strings.Cut(attr, " ")
	}
	if dtype != like+".dtype" {
		args = append(args, "dtype="+dtype)
	}
	before := out.Name + " = " + whenPresent(out, like+".new_empty(")
	return pyLayout(strings.Repeat(" ", 16), before, args, ")")[16:]
}
