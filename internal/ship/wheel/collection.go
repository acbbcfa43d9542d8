package wheel

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Collection is a project whose libraries have been built.
type Collection struct {
	Project *opdef.Project
	// Files are those of the project's folder.
	Files fs.FS
	// Runtime is the license of opcast's runtime, of which every package has a part.
	Runtime []byte
	// Programs become commands of the distribution with the collection's own name, instead of its requirement of the backend.
	Programs []File
}

// MissingLibraryError says that a package has no library, and what lacks to build it.
type MissingLibraryError struct {
	Distribution string
	// Needs are the distributions that the build needs.
	Needs []string
}

// Error names the package.
func (e *MissingLibraryError) Error() string {
	return fmt.Sprintf("%s has no library: its build needs %s, or leave it out of adaptors in opcast.toml",
		e.Distribution, strings.Join(e.Needs, " and "))
}

// Distributions are those of the collection: the backend, a package for each framework, and the one with the collection's own
// name, whose extras require the others. Notes say why a wheel is not for other machines.
func (c *Collection) Distributions() (all []*Distribution, notes []string, err error) {
	m := &c.Project.Manifest
	backend, err := c.read("backend/python")
	if err != nil {
		return nil, nil, err
	}
	all = append(all, backend)
	if err := c.tell(backend, nil, &notes); err != nil {
		return nil, nil, err
	}
	var extras []Extra
	for _, name := range m.Adaptors {
		fw, _ := framework.ByName(name)
		d, err := c.read("adaptors/" + name)
		if err != nil {
			return nil, nil, err
		}
		if fw.Handlers.Template != "" {
			if err := c.tell(d, &fw.Handlers, &notes); err != nil {
				return nil, nil, err
			}
		}
		all = append(all, d)
		extras = append(extras, Extra{Name: strings.ReplaceAll(name, "_", "-"), Requires: []string{d.exact()}})
	}
	whole, err := c.whole(backend, extras, &notes)
	if err != nil {
		return nil, nil, err
	}
	return append(all, whole), notes, nil
}

// exact requires this version of the distribution and no other.
func (d *Distribution) exact() string { return d.Name + "==" + normal(d.Version) }

// read makes the distribution of a folder, with what the project has for all of them.
func (c *Collection) read(folder string) (*Distribution, error) {
	files, err := fs.Sub(c.Files, folder)
	if err != nil {
		return nil, err
	}
	d, err := readProject(files)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	if err := c.share(d); err != nil {
		return nil, err
	}
	if !utf8.ValidString(d.Readme) {
		return nil, fmt.Errorf("%s: the description of the wheel, README.md, is not UTF-8, which installers demand", folder)
	}
	return d, nil
}

// licenseFiles are the usual names of licenses in the folder of a project.
var licenseFiles = []string{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*"}

// share adds the project's README, where the distribution has none, and its licenses.
func (c *Collection) share(d *Distribution) error {
	if d.Readme == "" {
		text, err := fs.ReadFile(c.Files, "README.md")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		d.Readme = string(text)
	}
	for _, pattern := range licenseFiles {
		found, err := fs.Glob(c.Files, pattern)
		if err != nil {
			return err
		}
		for _, name := range found {
			info, err := fs.Stat(c.Files, name)
			if err != nil {
				return err
			}
			if !info.Mode().IsRegular() {
				continue // a folder of licenses, for example
			}
			content, err := fs.ReadFile(c.Files, name)
			if err != nil {
				return err
			}
			d.Licenses = append(d.Licenses, File{Name: name, Content: content})
		}
	}
	same := func(f File) bool { return bytes.Equal(f.Content, c.Runtime) }
	if len(d.Files) > 0 && len(c.Runtime) > 0 && !slices.ContainsFunc(d.Licenses, same) {
		d.Licenses = append(d.Licenses, File{Name: "opcast/LICENSE", Content: c.Runtime})
	}
	return nil
}

// tell gives a distribution with a library its tag. Handlers are those of its framework, if it has one.
func (c *Collection) tell(d *Distribution, handlers *framework.Handlers, notes *[]string) error {
	i := slices.IndexFunc(d.Files, func(f File) bool { return path.Ext(f.Name) == ".so" })
	if i < 0 {
		missing := &MissingLibraryError{Distribution: d.Name}
		if handlers != nil {
			missing.Needs = handlers.Needs
		}
		return missing
	}
	var provided []string
	if handlers != nil {
		provided = handlers.Beside()
	}
	tag, why, err := platform(d.Files[i], provided)
	if err != nil {
		return err
	}
	d.Platform = tag
	d.excuse(path.Base(d.Files[i].Name), why, notes)
	return nil
}

// excuse adds a note if a file of the distribution needs what only newer systems have.
func (d *Distribution) excuse(file, why string, notes *[]string) {
	if why != "" {
		*notes = append(*notes, fmt.Sprintf("%s is for machines like this one: %s needs %s, which %s has not", d.Name, file, why, standard))
	}
}

// whole is the distribution that users name: it has no module, and requires the others.
func (c *Collection) whole(backend *Distribution, extras []Extra, notes *[]string) (*Distribution, error) {
	m := &c.Project.Manifest
	d := &Distribution{
		Name: m.Name, Version: m.Version, License: m.License, RequiresPython: backend.RequiresPython,
		Summary: "The ops of " + m.Name + " for " + framework.Titles(m.Adaptors), Extras: extras, Platform: anyPlatform,
		Requires: []string{backend.exact()},
	}
	if err := c.programs(d, notes); err != nil {
		return nil, err
	}
	return d, c.share(d)
}

// programs makes commands of the programs. A distribution with some does without the backend, which its extras require.
func (c *Collection) programs(d *Distribution, notes *[]string) error {
	for _, program := range c.Programs {
		tag, why, err := programPlatform(program)
		if err != nil {
			return err
		}
		d.excuse(program.Name, why, notes)
		d.Scripts, d.Platform, d.Requires = append(d.Scripts, program), tag, nil
	}
	return nil
}

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
