package gen

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
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
	conditions := append([]pyBoolean{test("out is None")}, v.each("type(%s) is _rt.ndarray")...)
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

// Allocate prints the lines that make the outputs.
func (v *arrayOp) Allocate() []string {
	lines := v.fastShapes()
	for i := range v.Outputs {
		out := &v.Outputs[i]
		shape := v.fastShape(out.Type)
		if twin := v.twin(out); twin != "" {
			shape = twin + ".shape"
		}
		args := []string{shape, v.fastDType(out.Type, "%q")}
		lines = append(lines, pyLayout(strings.Repeat(" ", 12), out.Name+" = _rt.empty(", args, ")")[12:])
	}
	return lines
}

// Views are the dtypes that cross DLPack as another one of their width, since NumPy itself does not know them.
func (v *packageView) Views() []dtype.DType {
	if v.FW.Name != "numpy" && v.FW.Name != "cupy" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(dtype.Table), func(d dtype.DType) bool { return d.View == "" })
}
