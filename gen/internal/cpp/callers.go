package cpp

import (
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
)

// callers are the header with which C++ programs call the ops of a collection, and the files with which CMake finds it.
func callers(c *view.Collection) []view.Draft {
	name := c.Project.Manifest.Name
	all := struct {
		Header, Name, Version string
		Ops                   []*callerView
	}{Header: view.Header(), Name: name, Version: c.Project.Manifest.Version}
	for _, op := range c.Ops {
		all.Ops = append(all.Ops, &callerView{&opView{op}})
	}
	folder := c.Project.BackendFolder()
	return []view.Draft{
		{Template: "backend/ops.h.tmpl", Path: path.Join(folder, "include", name, "ops.h"), Data: all},
		{Template: "backend/config.cmake.tmpl", Path: path.Join(folder, "cmake", name+"Config.cmake"), Data: all},
		{Template: "backend/version.cmake.tmpl", Path: path.Join(folder, "cmake", name+"ConfigVersion.cmake"), Data: all},
	}
}

// callerView is an op as a function that C++ programs call.
type callerView struct{ *opView }

// param is a parameter of the function, in the order of the export.
type param struct{ Type, Name, Default, Comment string }

// Params are the parameters. One has a default if all that follow have.
func (v *callerView) Params() []param {
	var all []param
	for i, a := range slices.Concat(v.Outputs, v.Inputs) {
		kind := "const DLTensor*"
		switch {
		case v.TakesNumber(&a):
			kind = "const Scalar&"
		case a.List:
			kind = "const std::vector<DLTensor*>&"
		case i < len(v.Outputs) || a.Mutated:
			kind = "DLTensor*"
		}
		comment := a.Type.Text
		if a.List {
			comment += " each"
		}
		p := param{Type: kind, Name: a.Name, Comment: comment + absentWhen(v.Op, &a) + ". " + a.Doc}
		if absentWhen(v.Op, &a) != "" {
			p.Default = "nullptr"
		}
		all = append(all, p)
	}
	for _, a := range v.ABIAttrs() {
		all = append(all, callerAttr(a))
	}
	for _, a := range v.Scratch {
		all = append(all, param{"DLTensor*", a.Name, "nullptr", a.Type.Text + ", scratch" + v.scratchNull() + ". " + a.Doc})
	}
	for i := len(all) - 2; i >= 0; i-- {
		if all[i+1].Default == "" {
			all[i].Default = ""
		}
	}
	return all
}

// callerAttr is the parameter of an attribute.
func callerAttr(a *opdef.Attr) param {
	kind := map[string]string{"int": "int64_t", "float": "double", "bool": "bool", "str": "const char*"}[a.Type]
	if a.Len != 0 {
		kind = "std::vector<int64_t>"
	}
	p := param{Type: kind, Name: a.Name, Comment: a.Doc}
	switch {
	case a.MayBeNone():
		p.Type, p.Default = "std::optional<"+kind+">", "std::nullopt"
	case a.Default != nil:
		p.Default = literal(a)
	}
	if strings.Contains(p.Type, "vector") {
		p.Type = "const " + p.Type + "&"
	}
	return p
}

// literal is the default of an attribute.
func literal(a *opdef.Attr) string {
	if list, ok := a.Default.([]int64); ok {
		var items []string
		for _, n := range list {
			items = append(items, intLiteral(n))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return scalar(a.Default)
}

// Declared are the parameters as the function declares them.
func (v *callerView) Declared() string {
	var out []string
	for _, p := range v.Params() {
		text := p.Type + " " + p.Name
		if p.Default != "" {
			text += " = " + p.Default
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// Packed are the calls that hand the arguments over: the lengths of lists first.
func (v *callerView) Packed() []string {
	var out []string
	for _, list := range v.Lists() {
		out = append(out, "Count("+list+")")
	}
	for _, a := range slices.Concat(v.Outputs, v.Inputs) {
		switch {
		case a.List:
			out = append(out, "Arrays("+a.Name+")")
		case v.TakesNumber(&a):
			out = append(out, "Value("+a.Name+")")
		default:
			out = append(out, "Array("+a.Name+")")
		}
	}
	for _, a := range v.ABIAttrs() {
		out = append(out, "Value("+a.Name+")")
	}
	for _, a := range v.Scratch {
		out = append(out, "Array("+a.Name+")")
	}
	return out
}
