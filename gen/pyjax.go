package gen

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/framework"
	"github.com/opcast/opcast/internal/opdef"
)

// handlers emits the C++ that XLA calls for each op.
func (g *generator) handlers(fw framework.Framework) error {
	view := struct {
		Header string
		DTypes []dtype.DType
		Ops    []*jaxOp
	}{Header: header()}
	for _, d := range dtype.Table {
		if d.XLA != "" && d.Bits >= 8 { // XLA packs narrower elements in its own way
			view.DTypes = append(view.DTypes, d)
		}
	}
	for _, op := range g.ops {
		view.Ops = append(view.Ops, &jaxOp{pyOp{op, fw}})
	}
	return g.render(fw.Handlers.Template, path.Join("adaptors", fw.Name, "csrc", "handlers.gen.cc"), view)
}

// jaxOp is an op as its module in the JAX adaptor, and the table of XLA handlers, see it.
type jaxOp struct{ pyOp }

// Guard is the condition under which the jitted function may be called at once. Static arguments must have the type that
// normalising gives them, else equal values would compile twice; zero is left out because 0.0 == -0.0, and NaN because it
// equals nothing.
func (v *jaxOp) Guard() string {
	conditions := v.each("isinstance(%s, _rt.ARRAY)")
	for i := range v.Attrs {
		conditions = append(conditions, staticGuard(&v.Attrs[i])...)
	}
	return pyIf("    ", allOf(conditions))
}

// staticGuard says whether an attr needs no normalising. Dtypes pass by name only: their objects have many forms.
func staticGuard(a *opdef.Attr) []pyBoolean {
	kind, _, _ := strings.Cut(a.Type, "[")
	if a.Type == "dtype" {
		kind = "str"
	}
	conditions := []pyBoolean{test(fmt.Sprintf("type(%s) is %s", a.Name, kind))}
	switch {
	case a.Len != 0:
		conditions = []pyBoolean{test(fmt.Sprintf("_rt.normal_ints(%s)", a.Name))}
	case a.Type == "float":
		conditions = append(conditions, test(fmt.Sprintf("abs(%s) > 0", a.Name)))
	}
	if a.DefaultExpr != nil || a.Type == "dtype" && a.HasDefault {
		return []pyBoolean{anyOf([]pyBoolean{test(a.Name + " is None"), allOf(conditions)})}
	}
	return conditions
}

// Call calls the jitted function: inputs, then all attrs.
func (v *jaxOp) Call() string {
	args := append(v.inputNames(), v.attrNames(allAttrs, "")...)
	return pyLayout("            ", "return _call(", args, ")")
}

// HandlerInputs initialises the op's inputs in the table of XLA handlers: optional, mutated.
func (v *jaxOp) HandlerInputs() string {
	var list []string
	for i := range v.Inputs {
		list = append(list, fmt.Sprintf("{%t, %t}", v.Inputs[i].Optional, v.Inputs[i].Mutated))
	}
	return strings.Join(list, ", ")
}

// HandlerOutputs initialises the op's outputs there: saved, number of the input that must be given.
func (v *jaxOp) HandlerOutputs() string {
	var list []string
	for i := range v.Outputs {
		out := v.Outputs[i]
		number := slices.IndexFunc(v.Inputs, func(a opdef.Arg) bool { return a.Name == out.PresentIf })
		list = append(list, fmt.Sprintf("{%t, %d}", out.Saved, number))
	}
	return strings.Join(list, ", ")
}

// HandlerKind is the enumerator of an attr's kind in xla_call.h.
func (v *jaxOp) HandlerKind(a *opdef.Attr) string {
	if a.Len != 0 {
		return "kInts"
	}
	return map[string]string{"int": "kInt", "float": "kFloat", "bool": "kBool", "str": "kString"}[a.Type]
}
