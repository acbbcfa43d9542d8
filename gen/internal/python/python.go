// Package python prints the Python of a collection: the checks and metadata in the backend's package, and the packages of
// the frameworks.
//
// Its text is laid out as ruff format would lay it out.
package python

import (
	"fmt"
	"path"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/framework"
)

// moduleViews make what the template for the module of an op sees; adaptor.toml names one of them, or means the first.
var moduleViews = map[string]func(function) any{
	"":      func(op function) any { return &arrayOp{op} },
	"array": func(op function) any { return &arrayOp{op} },
	"jax":   func(op function) any { return &jaxOp{op} },
	"torch": func(op function) any { return &torchOp{op} },
}

// Adaptor gives the package of a framework.
func Adaptor(c *view.Collection, fw framework.Framework) ([]view.Draft, error) {
	see, ok := moduleViews[fw.Ops.View]
	if !ok {
		return nil, fmt.Errorf("%s: %s: no view of ops is named %q", fw.Name, framework.File, fw.Ops.View)
	}
	var out []view.Draft
	dir, all := adaptorDir(c, fw.Name), newPackageView(c, fw)
	for _, op := range c.Ops {
		out = append(out, view.Draft{Template: fw.Ops.Template, Path: path.Join(dir, "_ops", op.Name+".py"), Data: see(function{op, fw})})
	}
	if fw.Layers.Template != "" {
		out = append(out, layers(c, fw))
	}
	return append(out,
		view.Draft{Template: "python/init.py.tmpl", Path: path.Join(dir, "__init__.py"), Data: all},
		view.Draft{Template: "python/init.pyi.tmpl", Path: path.Join(dir, "__init__.pyi"), Data: all},
		view.Draft{Template: "python/collection.py.tmpl", Path: path.Join(dir, "_collection.py"), Data: all},
		view.Draft{Template: "python/modules.py.tmpl", Path: path.Join(dir, "_ops/__init__.py"), Data: all},
		view.Draft{Template: "python/pyproject.toml.tmpl", Path: path.Join("adaptors", fw.Name, "pyproject.toml"), Data: all}), nil
}

// Backend gives the Python part of the backend's package: the checks, the metadata of the ops, the references where they
// serve as kernels, and the project file.
func Backend(c *view.Collection) []view.Draft {
	all := newPackageView(c, framework.Framework{})
	return append(references(c), checks(c),
		view.Draft{Template: "python/metadata.py.tmpl", Path: c.Project.GeneratedModule("ops"), Data: all},
		view.Draft{Template: "python/generated.py.tmpl", Path: c.Project.GeneratedModule("__init__"), Data: all},
		view.Draft{Template: "python/pyproject.toml.tmpl", Path: "backend/python/pyproject.toml", Data: all})
}

// adaptorDir is the source folder of an adaptor's package.
func adaptorDir(c *view.Collection, name string) string {
	return path.Join("adaptors", name, "src", c.Project.Manifest.Name+"_"+name)
}

// Inside gives the modules that differ in a package for a framework that lies beside the backend's inside another package. Their
// paths are relative to that one, and the namespace takes the place of the manifest's.
func Inside(c *view.Collection, fw framework.Framework, namespace string) []view.Draft {
	project := *c.Project
	project.Manifest.Namespace = namespace
	all := newPackageView(&view.Collection{Project: &project, Ops: c.Ops}, fw)
	all.Inside = true
	dir := project.Manifest.Name + "_" + fw.Name
	return []view.Draft{
		{Template: "python/init.py.tmpl", Path: path.Join(dir, "__init__.py"), Data: all},
		{Template: "python/collection.py.tmpl", Path: path.Join(dir, "_collection.py"), Data: all},
	}
}
