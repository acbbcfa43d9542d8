package cpp

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// pointer is the field of an array. A dtype that is the same in every call gives a pointer of its type, a dtype variable a
// pointer without a type here and one with a type in the struct that Visit passes.
func pointer(a *opdef.Arg, qualifier, comment string) field {
	f := field{Name: a.Name, Comment: comment, Value: variable(a.Name) + ".data()"}
	switch fixed := typeName(a.Type.DType); {
	case a.Type.Var != "":
		f.Decl = qualifier + "void* " + a.Name
		f.Typed = qualifier + a.Type.Var + "* " + a.Name
		f.Cast = fmt.Sprintf("static_cast<%s%s*>(args.%s)", qualifier, a.Type.Var, a.Name)
	case fixed == "":
		f.Decl = qualifier + "void* " + a.Name
	default:
		f.Decl = qualifier + fixed + "* " + a.Name
		f.Value = fmt.Sprintf("%s.data<%s>()", variable(a.Name), fixed)
	}
	return f
}

// scalarField is the field of an input that may be a number.
func scalarField(a *opdef.Arg, comment string) field {
	f := field{Name: a.Name, Comment: comment}
	kind := cmp.Or(typeName(a.Type.DType), "void")
	f.Decl, f.Value = fmt.Sprintf("opcast::Scalar<%s> %s", kind, a.Name), fmt.Sprintf("%s.scalar<%s>()", variable(a.Name), kind)
	if a.Type.Var != "" {
		f.Typed, f.Cast = fmt.Sprintf("opcast::Scalar<%s> %s", a.Type.Var, a.Name), "args."+a.Name
	}
	return f
}

// TypedFields are the members of the struct with types that hide those of the argument struct.
func (v *opView) TypedFields() []field {
	return slices.DeleteFunc(v.Fields(), func(f field) bool { return f.Typed == "" })
}
