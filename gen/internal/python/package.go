package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/python/stub"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// packageView is a Python package of the collection: an adaptor, or the backend if FW is empty.
type packageView struct {
	Header   string
	Manifest *manifest.Manifest
	FW       framework.Framework
	Ops      []*function
	// Inside says that the package lies beside the backend's inside another one, and not at the top.
	Inside bool
}

func newPackageView(c *view.Collection, fw framework.Framework) *packageView {
	p := &packageView{Header: view.Header(), Manifest: &c.Project.Manifest, FW: fw}
	for _, op := range c.Ops {
		p.Ops = append(p.Ops, &function{op, fw})
	}
	return p
}

// Name is the package's short name: that of its framework, or backend.
func (v *packageView) Name() string {
	if v.FW.Name == "" {
		return "backend"
	}
	return v.FW.Name
}

// Description is the line that package indexes show.
func (v *packageView) Description() string {
	if v.FW.Name == "" {
		return "Kernels of " + v.Manifest.Name + ", called by its packages for " + framework.Titles(v.Manifest.Adaptors)
	}
	return "The ops of " + v.Manifest.Name + " for " + v.FW.Title
}

// Backend is how the package names that of the backend.
func (v *packageView) Backend() string {
	if v.Inside {
		return ".." + v.Manifest.Name + "_backend"
	}
	return v.Manifest.Name + "_backend"
}

// ImportBackend begins the line that imports it.
func (v *packageView) ImportBackend() string {
	if v.Inside {
		return "from .. import " + v.Manifest.Name + "_backend"
	}
	return "import " + v.Backend()
}

// Namespace is the name of the ops' torch.ops namespace and XLA targets.
func (v *packageView) Namespace() string { return v.Manifest.Unique() }

// Dependencies are the distributions that the package needs.
func (v *packageView) Dependencies() []string {
	if v.FW.Name == "" {
		return []string{framework.TVMFFI}
	}
	return append([]string{v.Manifest.Name + "-backend==" + v.Manifest.Version}, v.FW.Requires...)
}

// All is the list of exported names.
func (v *packageView) All() string {
	names := []string{"OpKind", "__version__", "kernels", "ops", "use_kernel"}
	for _, op := range v.Ops {
		names = append(names, op.Name)
	}
	if v.HasLayers() {
		names = append(names, "layers", "replace")
	}
	slices.Sort(names)
	for i, n := range names {
		names[i] = layout.Quote(n)
	}
	return layout.Bracketed("", "__all__ = [", names, "]")
}

// HasLayers says whether the package also has the ops as modules.
func (v *packageView) HasLayers() bool { return v.FW.Layers.Template != "" }

// StubImports are the imports of the stub, and the type variables that its functions share.
func (v *packageView) StubImports() []string {
	var stubs, own []string
	var ops []*opdef.Op
	for _, op := range v.Ops {
		stubs, ops = append(stubs, op.Stub()), append(ops, op.Op)
	}
	for _, name := range []string{"OpKind", "kernels", "ops", "use_kernel"} {
		own = append(own, fmt.Sprintf("from %s_backend import %s as %s", v.Manifest.Name, name, name))
	}
	text := strings.Join(stubs, "\n")
	variables := stub.Variables(ops, text)
	out := stub.Imports(v.FW.Stub, strings.Join(append(variables, text), "\n"), own)
	if v.HasLayers() {
		out = append(out, "", "from . import layers as layers", "from ._runtime._replace import replace as replace")
	}
	if len(variables) > 0 {
		out = append(append(out, ""), variables...)
	}
	return out
}
