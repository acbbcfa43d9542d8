package python

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
)

// arrayOp is an op as a module sees it that passes arrays to the kernel in a plain call: the ones for NumPy and CuPy.
type arrayOp struct{ function }

// Fast says that plain arrays may go to the kernel as they are: not where the framework lacks a dtype, so that it needs a
// view.
func (v *arrayOp) Fast() bool {
	return v.FW.Ops.Fast && !v.HasLists() && !slices.ContainsFunc(slices.Concat(v.Inputs, v.Outputs), func(a opdef.Arg) bool {
		d, _ := dtype.Lookup(a.Type.DType)
		return !a.Optional && !a.Saved && d.View != ""
	})
}

// Guard is the condition under which the kernel may be called at once.
func (v *arrayOp) Guard() string {
	var conditions []layout.Boolean
	if v.HasOut() {
		absent := layout.Test("out is None")
		if v.givenOut() {
			absent = layout.AnyOf([]layout.Boolean{absent, layout.Test("type(out) is _rt.ndarray")})
		}
		conditions = append(conditions, absent)
	}
	for i, condition := range v.each("type(%s) is _rt.ndarray") {
		if in := &v.Inputs[i]; v.TakesNumber(in) {
			condition = v.takesNumber(in)
			if in.Optional {
				condition = layout.AnyOf([]layout.Boolean{layout.Test(in.Name + " is None"), condition})
			}
		}
		conditions = append(conditions, condition)
	}
	for i := range v.Attrs {
		a := &v.Attrs[i]
		if a.Type != "dtype" {
			continue
		}
		named := layout.Test("isinstance(" + a.Name + ", _rt.DTYPES)") // names go through the checks: NumPy has others
		if a.HasDefault {
			named = layout.AnyOf([]layout.Boolean{layout.Test(a.Name + " is None"), named})
		}
		conditions = append(conditions, named)
	}
	return layout.IfHead("    ", layout.AllOf(conditions))
}

// givenOut says that a given result may go to the kernel at once: a single one, whose dtype the kernel can judge.
func (v *arrayOp) givenOut() bool {
	outs := v.Returned()
	if !v.HasOut() || len(outs) != 1 || outs[0].PresentIf != "" {
		return false
	}
	return !slices.ContainsFunc(v.Attrs, func(a opdef.Attr) bool { return a.Binds != "" && a.Binds == outs[0].Type.Var })
}

// Allocate prints the lines that make the outputs, of which one that need not be made has another value first, and the
// scratch.
func (v *arrayOp) Allocate() []string {
	allocated := v.Returned()
	if takesScratch(v.Op, "cpu") {
		allocated = append(allocated, v.Scratch...)
	}
	lines := v.fastShapes(allocated)
	for i := range allocated {
		a := &allocated[i]
		switch {
		case a.PresentIf != "":
			lines = append(lines, a.Name+" = None", "if "+v.when(a)+":", "    "+v.empty(a, 16))
		case i == 0 && v.givenOut():
			lines = append(lines, a.Name+" = out", "if "+a.Name+" is None:", "    "+v.empty(a, 16))
		default:
			lines = append(lines, v.empty(a, 12))
		}
	}
	if len(v.Scratch) > 0 && !takesScratch(v.Op, "cpu") {
		lines = append(lines, v.noScratch())
	}
	return lines
}

// empty allocates an array, in code of the given indentation.
func (v *arrayOp) empty(out *opdef.Arg, indent int) string {
	shape := v.fastShape(out.Type)
	if twin := v.twin(out); twin != "" {
		shape = twin + ".shape"
	}
	args := []string{shape, v.fastDType(out.Type)}
	return layout.Bracketed(strings.Repeat(" ", indent), out.Name+" = _rt.empty(", args, ")")[indent:]
}

// Call is the call of the kernel.
func (v *arrayOp) Call() string { return v.kernelCall() }

// Views are the dtypes that cross DLPack as another one of their width, since the framework itself does not know them.
func (v *packageView) Views() []dtype.DType {
	if !v.FW.Ops.Views {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(dtype.Table), func(d dtype.DType) bool { return d.View == "" })
}

// Scratch is memory for a kernel to work in. An adaptor allocates it in the way of its framework, and only where a
// kernel for the device takes it.

// takesScratch says whether some kernel for a device works in the op's scratch.
func takesScratch(op *opdef.Op, device string) bool {
	return slices.ContainsFunc(op.KernelList(), func(k opdef.Kernel) bool { return k.On(device) && k.Scratch })
}

// noScratch is the statement that leaves all scratch out.
func (v *arrayOp) noScratch() string {
	return strings.Join(opdef.ArgNames(v.Scratch), " = ") + " = None"
}
