// Package hub prints the modules with which the packages of a collection become one kernel of the Hugging Face Hub, and what
// lies beside a kernel in its repository.
package hub

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/rule"
)

// variantView is a kernel as its templates see it.
type variantView struct {
	*view.Collection
	Header, Name, ID string
	// Adaptors are in the order of the frameworks, whatever that of the manifest is.
	Adaptors []framework.Framework
}

// Variant gives the modules of a variant, whose paths are relative to its folder: those through which a process finds the
// packages of the frameworks that it has, and what these packages have in place of their usual modules. The identifier is the
// name of the kernel among the modules of a process, and the namespace of its ops.
func Variant(c *view.Collection, id string) []view.Draft {
	v := newVariantView(c, id)
	var out []view.Draft
	for _, fw := range v.Adaptors {
		out = append(out, python.Inside(c, fw, id)...)
	}
	if v.Layers() != nil {
		out = append(out, view.Draft{Template: "hub/layers.py.tmpl", Path: "layers.py", Data: v})
	}
	return append(out,
		view.Draft{Template: "hub/init.py.tmpl", Path: "__init__.py", Data: v},
		view.Draft{Template: "hub/dispatch.py.tmpl", Path: "_dispatch.py", Data: v},
		view.Draft{Template: "hub/older.py.tmpl", Path: v.Name + "/__init__.py", Data: v})
}

func newVariantView(c *view.Collection, id string) *variantView {
	m := &c.Project.Manifest
	v := &variantView{Collection: c, Header: view.Header(), Name: m.Name, ID: id}
	for _, fw := range framework.All() {
		if slices.Contains(m.Adaptors, fw.Name) {
			v.Adaptors = append(v.Adaptors, fw)
		}
	}
	return v
}

// Titles names the frameworks in a sentence.
func (v *variantView) Titles() string {
	var titles []string
	for _, fw := range v.Adaptors {
		titles = append(titles, fw.Title)
	}
	return rule.Or(titles)
}

// Layers is the framework that has the ops as modules, nil if there is none.
func (v *variantView) Layers() *framework.Framework {
	i := slices.IndexFunc(v.Adaptors, func(fw framework.Framework) bool { return fw.Layers.Template != "" })
	if i < 0 {
		return nil
	}
	return &v.Adaptors[i]
}

// Exports are the names that the kernel has for others.
func (v *variantView) Exports() []string {
	names := []string{"OpKind", "__version__", "kernels", "ops", "use_kernel"}
	for _, op := range v.Collection.Ops {
		names = append(names, op.Name)
	}
	if v.Layers() != nil {
		names = append(names, "layers")
	}
	slices.Sort(names)
	return names
}

// hubOp is an op as the kernel's own module shows it.
type hubOp struct{ *view.Compiled }

// Ops are the ops.
func (v *variantView) Ops() (out []hubOp) {
	for _, op := range v.Collection.Ops {
		out = append(out, hubOp{op})
	}
	return out
}

// Doc is the docstring: what the op does, and how it is called.
func (v hubOp) Doc() []string {
	d := &view.Docstring{Width: 88}
	d.Paragraph("", v.Op.Doc)
	d.Add("")
	d.Add("``" + python.Signature(v.Op) + "``")
	return d.Lines
}

// table is a framework in the table by which calls find its package.
type table struct{ Module, Array, Package string }

// Frameworks are the rows of that table.
func (v *variantView) Frameworks() (out []table) {
	for _, fw := range v.Adaptors {
		i := strings.LastIndex(fw.Python.Array, ".")
		out = append(out, table{fw.Python.Array[:max(i, 0)], fw.Python.Array[i+1:], v.Name + "_" + fw.Name})
	}
	return out
}
