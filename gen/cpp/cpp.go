// Package cpp prints the C++ of a collection: the argument structs, exports and registration of the backend, and the table
// of XLA handlers.
package cpp

import (
	"fmt"
	"strings"

	"github.com/opcast/opcast/gen/view"
	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// Emit gives the C++ of the backend: per op its argument struct and its export, and for all ops the registration.
func Emit(c *view.Collection) []view.Draft {
	var out []view.Draft
	for _, op := range c.Ops {
		data := &opView{op}
		out = append(out,
			view.Draft{Template: "backend/args.h.tmpl", Path: "backend/gen/" + op.Name + ".gen.h", Data: data},
			view.Draft{Template: "backend/op.cc.tmpl", Path: "backend/gen/" + op.Name + ".gen.cc", Data: data})
	}
	all := struct {
		Header string
		Ops    []*view.Compiled
		DTypes []dtype.DType
	}{view.Header(), c.Ops, dtype.Table}
	return append(out,
		view.Draft{Template: "backend/register.cc.tmpl", Path: "backend/gen/register_all.gen.cc", Data: all},
		view.Draft{Template: "backend/dtypes.h.tmpl", Path: "backend/gen/dtypes.gen.h", Data: all})
}

// opView adds the C++ spelling of everything that the templates in backend/ print.
type opView struct{ *view.Compiled }

// field is a member of the argument struct. Dispatch fills in those that have no Value.
type field struct{ Decl, Comment, Name, Value string }

// enum is the C++ enum of a str attr with one_of.
type enum struct {
	Name   string
	Values []string
}

// Enums are the enums of the op's str attrs.
func (v *opView) Enums() []enum {
	var out []enum
	for _, a := range v.ABIAttrs() {
		if len(a.OneOf) > 0 {
			e := enum{Name: v.Pascal() + view.Pascal(a.Name)}
			for _, s := range a.OneOf {
				e.Values = append(e.Values, "k"+view.Pascal(s))
			}
			out = append(out, e)
		}
	}
	return out
}

// Fields lists the argument struct: dtypes, sizes, outputs, inputs, attrs.
func (v *opView) Fields() []field {
	var out []field
	for _, d := range v.DTypes {
		out = append(out, field{"opcast::DType " + d.Name, rule.Or(rule.Long(d.OneOf)), d.Name, variable(d.Name)})
	}
	if v.HasBatch() {
		in := v.input(v.Program.BatchOf)
		_, trailing := rule.Trailing(in.Type)
		value := ifThere(in, fmt.Sprintf("%s.batch(%d)", variable(in.Name), trailing), "0")
		out = append(out, field{"int64_t batch", "product of the leading dimensions", "batch", value})
	}
	for _, s := range v.Symbols() {
		out = append(out, field{"int64_t " + s, "", s, variable(s)})
	}
	for _, a := range v.Outputs {
		out = append(out, field{"void* " + a.Name, a.Type.Text + absentWhen(&a), a.Name, variable(a.Name) + ".data()"})
	}
	for _, a := range v.Inputs {
		out = append(out, v.inputFields(a)...)
	}
	for _, a := range v.ABIAttrs() {
		out = append(out, v.attrField(a))
	}
	for _, a := range v.Scratch {
		comment := a.Type.Text + ", scratch" + v.scratchNull()
		out = append(out, field{Decl: "void* " + a.Name, Comment: comment})
	}
	return out
}

func (v *opView) input(name string) *opdef.Arg {
	i := v.InputIndex(name)
	return &v.Inputs[i]
}

// ifThere is a value that is read off an input; one that is absent has none.
func ifThere(in *opdef.Arg, value, otherwise string) string {
	if !in.Optional {
		return value
	}
	return fmt.Sprintf("%s ? %s : %s", variable(in.Name), value, otherwise)
}

func (v *opView) inputFields(a opdef.Arg) []field {
	name := variable(a.Name)
	decl, comment := "const void* ", a.Type.Text
	if a.Mutated {
		decl, comment = "void* ", comment+", read and written"
	}
	out := []field{{decl + a.Name, comment + absentWhen(&a), a.Name, name + ".data()"}}
	if a.Stride != "" {
		_, trailing := rule.Trailing(a.Type)
		value := ifThere(&a, fmt.Sprintf("%s.layout(%d)", name, trailing), "opcast::Layout{}")
		out = append(out, field{"opcast::Layout " + a.Name + "_layout", "", a.Name + "_layout", value})
	}
	return out
}

func (v *opView) attrField(a *opdef.Attr) field {
	name := a.Name
	f := field{Name: name, Value: variable(name)}
	switch {
	case len(a.OneOf) > 0:
		f.Decl = v.Pascal() + view.Pascal(a.Name) + " " + name
	case strings.HasPrefix(a.Type, "int["):
		f.Decl = fmt.Sprintf("std::array<int64_t, %d> %s", a.Len, name)
	default:
		f.Decl = map[string]string{"int": "int64_t ", "float": "double ", "bool": "bool ", "str": "std::string_view "}[a.Type] + name
	}
	return f
}

// combination is one branch of Visit.
type combination struct{ Condition, Types string }

// Combinations are the declared dtype combinations, one Visit branch each. Those with a dtype that has no C++ type have none.
func (v *opView) Combinations() []combination {
	out := []combination{{}}
	for _, d := range v.DTypes {
		var next []combination
		for _, c := range out {
			for _, s := range d.OneOf {
				if typeName(s) == "" {
					continue
				}
				next = append(next, combination{
					join(c.Condition, " && ", "args."+d.Name+" == "+enumerator(s)), join(c.Types, ", ", typeName(s)),
				})
			}
		}
		out = next
	}
	return out
}

func join(a, sep, b string) string {
	if a == "" {
		return b
	}
	return a + sep + b
}

// NeverVisits is the attribute of parameters that Visit does not use, where no combination has a C++ type; else "".
func (v *opView) NeverVisits() string {
	if len(v.Combinations()) == 0 {
		return "[[maybe_unused]] "
	}
	return ""
}

// TypeParameters is the template head of the Types struct.
func (v *opView) TypeParameters() string {
	var out []string
	for _, d := range v.DTypes {
		out = append(out, "class "+d.Name+"_")
	}
	return strings.Join(out, ", ")
}
