package load

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/code"
	"github.com/opcast/opcast/internal/opdef/names"
	"github.com/opcast/opcast/internal/opdef/tomldoc"
)

// cppType is a type of the generated C++, what it is for, the C++ name of its op, and the attribute whose choices it holds.
type cppType struct{ name, what, op, attr string }

// cppTypes are the types that the generated C++ has for an op. Those of all ops stand in one namespace, with the kernels.
func cppTypes(o *opdef.Op) []cppType {
	op := names.Pascal(o.Name)
	list := []cppType{{op + "Args", "the struct of arguments of " + o.Name, op, ""}}
	if len(o.DTypes) > 0 {
		list = append(list, cppType{op + "Types", "the struct of dtypes of " + o.Name, op, ""})
	}
	for _, a := range o.Attrs {
		if len(a.OneOf) > 0 {
			list = append(list, cppType{op + names.Pascal(a.Name), fmt.Sprintf("the type of the choices of %s of %s", a.Name, o.Name), op, a.Name})
		}
	}
	return list
}

// memberNames checks that the op's C++ types differ, and that no member of its structs is called like one of them, since the
// members name them.
func (c *checker) memberNames() {
	types := cppTypes(c.op)
	report := func(name string, pos diag.Pos) {
		if i := slices.IndexFunc(types, func(t cppType) bool { return t.name == name }); i >= 0 {
			c.diags.Add(pos, code.Reserved, "choose another name", "%q is reserved: in C++ it is %s", name, types[i].what)
		}
	}
	for i, a := range c.op.Attrs {
		if mine := names.Pascal(c.op.Name) + names.Pascal(a.Name); len(a.OneOf) > 0 {
			if j := slices.IndexFunc(types, func(t cppType) bool { return t.name == mine }); types[j].attr != a.Name {
				c.report(tomldoc.Join(tomldoc.Element("attrs", i), "name"), code.Reserved, "choose another name", "%q is reserved: in C++ its choices are called %s, as %s is", a.Name, mine, types[j].what)
			}
		}
	}
	for _, name := range keys(c.names) {
		report(name, c.doc.KeyAt(c.names[name].path))
	}
	for _, name := range keys(c.sizes) {
		report(name, c.doc.At("inputs"))
	}
}

// checkTypes finds types of the generated C++ that two ops share, or that a kernel has as its name.
func checkTypes(p *opdef.Project, diags *diag.List) {
	first := map[string]cppType{}
	for _, op := range p.Ops {
		for _, t := range cppTypes(op) {
			other, taken := first[t.name]
			switch {
			case !taken:
				first[t.name] = t
			case other.op != t.op: // ops of one name are reported already
				start := diag.Pos{File: op.File, Line: 1, Col: 1}
				diags.Add(start, code.Duplicate, "rename one of them", "in C++ %s is called %s, as %s is", t.what, t.name, other.what)
			}
		}
	}
	for _, op := range p.Ops {
		for i, k := range op.Kernels {
			for _, function := range k.Functions() {
				if t, taken := first[function]; taken {
					diags.Add(op.Pos[tomldoc.Element("kernels", i)], code.Kernel, "rename the kernel", "in C++ %s is called %s, as a function of kernel %s is", t.what, t.name, k.Name)
				}
			}
		}
	}
}
