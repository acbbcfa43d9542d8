package python

import (
	"fmt"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// jaxOp is an op as its module in the JAX adaptor sees it.
type jaxOp struct{ function }

// Guard is the condition under which the jitted function may be called at once. Static arguments must have the type that
// normalising gives them, else equal values would compile twice; zero is left out because 0.0 == -0.0, and NaN because it
// equals nothing.
func (v *jaxOp) Guard() string {
	conditions := v.each("isinstance(%s, _rt.ARRAY)")
	for i := range v.Attrs {
		conditions = append(conditions, v.staticGuard(&v.Attrs[i])...)
	}
	return layout.IfHead("    ", layout.AllOf(conditions))
}

// staticGuard says whether an attr needs no normalising. Dtypes pass by their long names only: their objects have many forms.
func (v *jaxOp) staticGuard(a *opdef.Attr) []layout.Boolean {
	kind, _, _ := strings.Cut(a.Type, "[")
	if a.Type == "dtype" {
		kind = "str"
	}
	conditions := []layout.Boolean{layout.Test(fmt.Sprintf("type(%s) is %s", a.Name, kind))}
	for _, d := range v.DTypes {
		if a.Binds == d.Name {
			conditions = append(conditions, layout.Test(a.Name+" in "+quotedTuple(rule.Long(d.OneOf))))
		}
	}
	switch {
	case a.Len != 0:
		conditions = []layout.Boolean{layout.Test(fmt.Sprintf("_rt.normal_ints(%s)", a.Name))}
	case a.Type == "float":
		conditions = append(conditions, layout.Test(fmt.Sprintf("abs(%s) > 0", a.Name)))
	}
	if a.MayBeNone() || a.Type == "dtype" && a.HasDefault {
		return []layout.Boolean{layout.AnyOf([]layout.Boolean{layout.Test(a.Name + " is None"), layout.AllOf(conditions)})}
	}
	return conditions
}

// Call calls the jitted function: inputs, then all attrs.
func (v *jaxOp) Call() string {
	args := append(v.inputNames(), v.attrNames(allAttrs, "")...)
	return layout.Bracketed("            ", "return _call(", args, ")")
}
