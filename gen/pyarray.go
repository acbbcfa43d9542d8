package gen

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef"
)

// arrayPackage emits the NumPy or the CuPy adaptor.
func (g *generator) arrayPackage(framework string) error {
	for _, op := range g.ops {
		v := &arrayOp{pyOp{op, frameworks[framework]}}
		if err := g.render("array/op.py.tmpl", g.moduleFile(framework, op), v); err != nil {
			return err
		}
	}
	return g.adaptorPackage(framework)
}

// arrayOp is an op as its module in the NumPy or CuPy adaptor sees it.
type arrayOp struct{ pyOp }

// Fast says that plain arrays may go to the kernel as they are: CuPy's need a stream, which tvm-ffi does not set.
func (v *arrayOp) Fast() bool { return v.FW.Name == "numpy" }

// Guard is the condition under which the kernel may be called at once.
func (v *arrayOp) Guard() string {
	var conditions []pyBoolean
	if v.HasOut() {
		absent := test("out is None")
		if v.givenOut() {
			absent = anyOf([]pyBoolean{absent, test("type(out) is _rt.ndarray")})
		}
		conditions = append(conditions, absent)
	}
	conditions = append(conditions, v.each("type(%s) is _rt.ndarray")...)
	for i := range v.Attrs {
		a := &v.Attrs[i]
		if a.Type != "dtype" {
			continue
		}
		named := test("isinstance(" + a.Name + ", _rt.DTYPES)")
		if a.HasDefault {
			named = anyOf([]pyBoolean{test(a.Name + " is None"), named})
		}
		conditions = append(conditions, named)
	}
	return pyIf("    ", allOf(conditions))
}

// givenOut says that a given result may go to the kernel at once: a single one, whose dtype the kernel can judge.
func (v *arrayOp) givenOut() bool {
	outs := v.Returned()
	if !v.HasOut() || len(outs) != 1 || outs[0].PresentIf != "" {
		return false
	}
	return !slices.ContainsFunc(v.Attrs, func(a opdef.Attr) bool { return a.Binds != "" && a.Binds == outs[0].Type.Var })
}

// Allocate prints the lines that make the outputs; one that need not be made has another value first.
func (v *arrayOp) Allocate() []string {
	lines := v.fastShapes()
	for i := range v.Outputs {
		out := &v.Outputs[i]
		switch {
		case out.Saved:
		case out.PresentIf != "":
			lines = append(lines, out.Name+" = None", "if "+out.PresentIf+" is not None:", "    "+v.empty(out, 16))
		case v.givenOut():
			lines = append(lines, out.Name+" = out", "if "+out.Name+" is None:", "    "+v.empty(out, 16))
		default:
			lines = append(lines, v.empty(out, 12))
		}
	}
	return lines
}

// empty allocates an output, in code of the given indentation.
func (v *arrayOp) empty(out *opdef.Arg, indent int) string {
	shape := v.fastShape(out.Type)
	if twin := v.twin(out); twin != "" {
		shape = twin + ".shape"
	}
	args := []string{shape, v.fastDType(out.Type, "%q")}
	return pyLayout(strings.Repeat(" ", indent), out.Name+" = _rt.empty(", args, ")")[indent:]
}

// Call is the call of the kernel.
func (v *arrayOp) Call() string {
	return strings.TrimLeft(pyLayout(strings.Repeat(" ", 12), "_kernel(", strings.Split(v.KernelArgs(), ", "), ")"), " ")
}

// Fault is what a plain call may end with and then be repeated by the general one. Where the kernel overwrites inputs,
// that is only what happens before it runs.
func (v *arrayOp) Fault() string {
	if len(v.Mutated()) > 0 {
		return "_rt.REFUSAL"
	}
	return "_rt.FAULT"
}

// General is the general call.
func (v *arrayOp) General() string {
	items := []pyNode{tupleNode("", leaves(v.inputNames())), tupleNode("", leaves(v.attrNames(allAttrs, "")))}
	if v.HasOut() {
		items = append(items, leaf("out"))
	}
	return pyNode{"return _op.call(", items, ")"}.print("    ", "")
}

// Views are the dtypes that cross DLPack as another one of their width, since NumPy itself does not know them.
func (v *packageView) Views() []dtype.DType {
	if v.FW.Name != "numpy" && v.FW.Name != "cupy" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(dtype.Table), func(d dtype.DType) bool { return d.View == "" })
}
