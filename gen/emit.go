package gen

import (
	"fmt"
	"path"

	"github.com/opcast/opcast/internal/framework"
)

// moduleViews make what the template for the module of an op sees; adaptor.toml names one of them, or means the first.
var moduleViews = map[string]func(pyOp) any{
	"":      func(op pyOp) any { return &arrayOp{op} },
	"array": func(op pyOp) any { return &arrayOp{op} },
	"jax":   func(op pyOp) any { return &jaxOp{op} },
	"torch": func(op pyOp) any { return &torchOp{op} },
}

// Adaptor gives the package of a framework.
func Adaptor(c *Collection, fw framework.Framework) ([]Draft, error) {
	see, ok := moduleViews[fw.Ops.View]
	if !ok {
		return nil, fmt.Errorf("%s: %s: no view of ops is named %q", fw.Name, framework.File, fw.Ops.View)
	}
	var out []Draft
	dir, all := adaptorDir(c, fw.Name), newPackageView(c, fw)
	for _, op := range c.Ops {
		out = append(out, Draft{fw.Ops.Template, path.Join(dir, "_ops", op.Name+".py"), see(pyOp{op, fw})})
	}
	if fw.Layers.Template != "" {
		out = append(out, layers(c, fw))
	}
	return append(out,
		Draft{"python/init.py.tmpl", path.Join(dir, "__init__.py"), all},
		Draft{"python/init.pyi.tmpl", path.Join(dir, "__init__.pyi"), all},
		Draft{"python/collection.py.tmpl", path.Join(dir, "_collection.py"), all},
		Draft{"python/modules.py.tmpl", path.Join(dir, "_ops/__init__.py"), all},
		Draft{"python/pyproject.toml.tmpl", path.Join("adaptors", fw.Name, "pyproject.toml"), all}), nil
}

// Backend gives the Python part of the backend's package: the checks, the metadata of the ops, the references where they
// serve as kernels, and the project file.
func Backend(c *Collection) []Draft {
	all := newPackageView(c, framework.Framework{})
	return append(references(c), checks(c),
		Draft{"python/metadata.py.tmpl", path.Join(backendDir(c), "_ops.py"), all},
		Draft{"python/pyproject.toml.tmpl", "backend/python/pyproject.toml", all})
}

// adaptorDir is the source folder of an adaptor's package.
func adaptorDir(c *Collection, name string) string {
	return path.Join("adaptors", name, "src", c.Project.Manifest.Name+"_"+name)
}

// backendDir is the source folder of the backend's package.
func backendDir(c *Collection) string {
	return "backend/python/src/" + c.Project.Manifest.Name + "_backend"
}
