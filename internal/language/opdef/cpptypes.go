package opdef

import (
	"fmt"

	"github.com/opcast/opcast/internal/language/opdef/names"
)

// CPPType is a type of the generated C++, what it is for, the C++ name of its op, and the attribute whose choices it holds.
type CPPType struct{ Name, What, Op, Attr string }

// CPPTypes are the types that the generated C++ has for an op. Those of all ops stand in one namespace, with the kernels.
func (o *Op) CPPTypes() []CPPType {
	op := names.Pascal(o.Name)
	list := []CPPType{{op + "Args", "the struct of arguments of " + o.Name, op, ""}}
	if len(o.DTypes) > 0 {
		list = append(list, CPPType{op + "Typed", "the struct of arguments with types of " + o.Name, op, ""})
	}
	for _, a := range o.Attrs {
		if len(a.OneOf) > 0 {
			list = append(list, CPPType{op + names.Pascal(a.Name), fmt.Sprintf("the type of the choices of %s of %s", a.Name, o.Name), op, a.Name})
		}
	}
	return list
}
