package wheel

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// variantModule is the only module of a package with nothing but a library.
const variantModule = `"""The library of %[1]s for CUDA %[2]s, which %[1]s_backend takes in place of its own."""

__version__ = "%[3]s"
`

// CUDA is the distribution of the library that has just been built with code for CUDA. It lies beside the backend: packages with
// files of one name would overwrite each other. The version is that of the toolkit; a library works with every driver for its
// first part. The function adds the distribution to the others, and an extra to the last of them, which users name.
func (c *Collection) CUDA(others []*Distribution, version string) (all []*Distribution, notes []string, err error) {
	backend, whole := others[0], others[len(others)-1]
	m := &c.Project.Manifest
	major, _, _ := strings.Cut(version, ".")
	module := m.Name + "_backend_cu" + major
	library := "lib/lib" + m.Name + ".so"
	content, err := fs.ReadFile(c.Files, path.Join("backend/python/src", m.Name+"_backend", library))
	if err != nil {
		return nil, nil, err
	}
	d := *backend
	d.Name, d.Requires = backend.Name+"-cu"+major, []string{backend.exact()}
	d.Summary = fmt.Sprintf("Kernels of %s for CUDA %s, beside those of %s", m.Name, major, backend.Name)
	d.Files = []File{
		{Name: module + "/__init__.py", Content: fmt.Appendf(nil, variantModule, m.Name, major, m.Version)},
		{Name: module + "/py.typed"},
		{Name: path.Join(module, library), Content: content},
	}
	if err := c.tell(&d, nil, &notes); err != nil {
		return nil, nil, err
	}
	whole.Extras = append(whole.Extras, Extra{Name: "cu" + major, Requires: []string{d.exact()}})
	return append(others, &d), notes, nil
}
