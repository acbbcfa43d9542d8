// Package cpp prints the C++ of a collection: the argument structs, exports and registration of the backend, and the table
// of XLA handlers.
package cpp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
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
		Header, Namespace string
		Ops               []*view.Compiled
		DTypes            []dtype.DType
	}{view.Header(), c.Project.Manifest.CPPNamespace(), c.Ops, dtype.Table}
	return append(append(out, callers(c)...),
		view.Draft{Template: "backend/register.cc.tmpl", Path: "backend/gen/register_all.gen.cc", Data: all},
		view.Draft{Template: "backend/dtypes.h.tmpl", Path: "backend/gen/dtypes.gen.h", Data: all})
}

// opView adds the C++ spelling of everything that the templates in backend/ print.
type opView struct{ *view.Compiled }

// Namespace is the C++ namespace of the collection.
func (v *opView) Namespace() string { return v.Project.Manifest.CPPNamespace() }

// field is a member of the argument struct. Dispatch fills in those that have no Value. Typed is its declaration where the
// dtypes are types, if that differs, and Cast makes the value of that.
type field struct{ Decl, Comment, Name, Value, Typed, Cast string }

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
		out = append(out, field{Decl: "opcast::DType " + d.Name, Comment: rule.Or(rule.Long(d.OneOf)), Name: d.Name, Value: variable(d.Name)})
	}
	if v.HasBatch() {
		in := v.input(v.Program.BatchOf)
		_, trailing := rule.Trailing(in.Type)
		value := ifThere(in, fmt.Sprintf("%s.batch(%d)", v.first(in.Name), trailing), "0")
		if v.Broadcasts() {
			value = "batch"
		}
		out = append(out, field{Decl: "int64_t batch", Comment: "product of the leading dimensions", Name: "batch", Value: value})
	}
	out = append(out, v.sizeFields()...)
	for _, a := range v.Outputs {
		if a.List {
			out = append(out, v.listField(&a, "", a.Type.Text+" each"))
		} else {
			out = append(out, pointer(&a, "", a.Type.Text+absentWhen(v.Op, &a)))
		}
	}
	for _, a := range v.Inputs {
		out = append(out, v.inputFields(a)...)
	}
	for _, a := range v.ABIAttrs() {
		out = append(out, v.attrField(a))
	}
	for _, a := range v.Scratch {
		f := pointer(&a, "", a.Type.Text+", scratch"+v.scratchNull())
		f.Value = ""
		out = append(out, f)
	}
	return out
}

// sizeFields are the members for sizes, also of the arrays of lists.
func (v *opView) sizeFields() []field {
	var out []field
	if v.Program.OwnBatch[0] != "" {
		out = append(out, field{Decl: "opcast::Ints batch", Comment: "products of the leading dimensions of each array", Name: "batch", Value: "{batches.data(), batches.size()}"})
	}
	for _, s := range v.Symbols() {
		if v.Differs(s) {
			out = append(out, field{Decl: "opcast::Ints " + s, Comment: "of each array", Name: s, Value: fmt.Sprintf("{%[1]s.data(), %[1]s.size()}", variable(s))})
		} else {
			out = append(out, field{Decl: "int64_t " + s, Name: s, Value: variable(s)})
		}
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
	qualifier, comment := "const ", a.Type.Text
	if a.Mutated {
		qualifier, comment = "", comment+", read and written"
	}
	if a.List {
		return []field{v.listField(&a, qualifier, strings.Replace(comment, a.Type.Text, a.Type.Text+" each", 1))}
	}
	if v.TakesNumber(&a) {
		return []field{scalarField(&a, comment+strings.Replace(absentWhen(v.Op, &a), "null", "false", 1))}
	}
	out := []field{pointer(&a, qualifier, comment+absentWhen(v.Op, &a))}
	_, trailing := rule.Trailing(a.Type)
	if a.Type.Lead() == opdef.Broadcast {
		value := ifThere(&a, fmt.Sprintf("lead.Rows(call, %s, %d)", name, trailing), "opcast::Broadcast{}")
		out = append(out, field{Decl: "opcast::Broadcast " + a.Name + "_lead", Comment: "where its rows lie", Name: a.Name + "_lead", Value: value})
	}
	if a.Stride != "" {
		value := ifThere(&a, fmt.Sprintf("%s.layout(%d)", name, trailing), "opcast::Layout{}")
		out = append(out, field{Decl: "opcast::Layout " + a.Name + "_layout", Name: a.Name + "_layout", Value: value})
	}
	return out
}

func (v *opView) attrField(a *opdef.Attr) field {
	f := field{Name: a.Name, Value: variable(a.Name)}
	kind := v.attrType(a)
	if a.Len < 0 {
		f.Value = fmt.Sprintf("{%[1]s.data(), %[1]s.size()}", variable(a.Name))
	}
	if a.Optional {
		kind = "std::optional<" + kind + ">"
		f.Comment = "absent unless given"
	}
	if a.Optional && a.Len < 0 {
		f.Value = fmt.Sprintf("%[1]s ? %[2]s({%[1]s->data(), %[1]s->size()}) : std::nullopt", variable(a.Name), kind)
	}
	f.Decl = kind + " " + a.Name
	return f
}

// attrType is the C++ type of an attribute in the argument struct.
func (v *opView) attrType(a *opdef.Attr) string {
	switch {
	case len(a.OneOf) > 0:
		return v.Pascal() + view.Pascal(a.Name)
	case a.Len < 0:
		return "opcast::Ints"
	case a.Len > 0:
		return fmt.Sprintf("std::array<int64_t, %d>", a.Len)
	}
	return map[string]string{"int": "int64_t", "float": "double", "bool": "bool", "str": "std::string_view"}[a.Type]
}

// combination is one branch of Visit.
type combination struct {
	Condition, Types string
	dtypes           map[string]string // the short names that the variables stand for
}

// with is the combination with one more variable.
func (c combination) with(variable, dtype string) combination {
	dtypes := maps.Clone(c.dtypes)
	dtypes[variable] = dtype
	return combination{
		join(c.Condition, " && ", "args."+variable+" == "+enumerator(dtype)), join(c.Types, ", ", typeName(dtype)), dtypes,
	}
}

// Combinations are the declared dtype combinations, one Visit branch each. Those with a dtype that has no C++ type have
// none, nor have those that a condition refuses: no call gets as far, and each branch compiles a kernel.
func (v *opView) Combinations() []combination {
	out := []combination{{dtypes: map[string]string{}}}
	for _, d := range v.DTypes {
		var next []combination
		for _, c := range out {
			for _, s := range d.OneOf {
				if typeName(s) != "" {
					next = append(next, c.with(d.Name, s))
				}
			}
		}
		out = next
	}
	return slices.DeleteFunc(out, func(c combination) bool { return v.Excludes(c.dtypes) })
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

// TypeParameters is the template head of the struct with types.
func (v *opView) TypeParameters() string {
	var out []string
	for _, d := range v.DTypes {
		out = append(out, "class "+d.Name+"_")
	}
	return strings.Join(out, ", ")
}
