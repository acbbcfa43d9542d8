package load

import (
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
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
