package load

import (
	"slices"

	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/code"
	"github.com/opcast/opcast/internal/opdef/names"
	"github.com/opcast/opcast/internal/opdef/tomldoc"
)

// memberNames checks that the op's C++ types differ, and that no member of its structs is called like one of them, since the
// members name them.
func (c *checker) memberNames() {
	types := c.op.CPPTypes()
	report := func(name string, pos diag.Pos) {
		if i := slices.IndexFunc(types, func(t opdef.CPPType) bool { return t.Name == name }); i >= 0 {
			c.diags.Add(pos, code.Reserved, "choose another name", "%q is reserved: in C++ it is %s", name, types[i].What)
		}
	}
	for i, a := range c.op.Attrs {
		if mine := names.Pascal(c.op.Name) + names.Pascal(a.Name); len(a.OneOf) > 0 {
			if j := slices.IndexFunc(types, func(t opdef.CPPType) bool { return t.Name == mine }); types[j].Attr != a.Name {
				c.report(tomldoc.Join(tomldoc.Element("attrs", i), "name"), code.Reserved, "choose another name", "%q is reserved: in C++ its choices are called %s, as %s is", a.Name, mine, types[j].What)
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
	first := map[string]opdef.CPPType{}
	for _, op := range p.Ops {
		for _, t := range op.CPPTypes() {
			other, taken := first[t.Name]
			switch {
			case !taken:
				first[t.Name] = t
			case other.Op != t.Op: // ops of one name are reported already
				start := diag.Pos{File: op.File, Line: 1, Col: 1}
				diags.Add(start, code.Duplicate, "rename one of them", "in C++ %s is called %s, as %s is", t.What, t.Name, other.What)
			}
		}
	}
	for _, op := range p.Ops {
		for i, k := range op.Kernels {
			for _, function := range k.Functions() {
				if t, taken := first[function]; taken {
					diags.Add(op.Pos[tomldoc.Element("kernels", i)], code.Kernel, "rename the kernel", "in C++ %s is called %s, as a function of kernel %s is", t.What, t.Name, k.Name)
				}
			}
		}
	}
}
