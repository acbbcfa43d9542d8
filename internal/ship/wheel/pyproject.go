package wheel

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/opcast/opcast/internal/language/tomlfmt"
)

// pyproject is what opcast writes of pyproject.toml. The wheel has the same names, requirements and files as the project has
// when pip installs it from its folder.
type pyproject struct {
	Project struct {
		Name           string
		Version        string
		Description    string
		License        string
		RequiresPython string `toml:"requires-python"`
		Dependencies   []string
	}
	Tool struct {
		Setuptools struct {
			Packages    struct{ Find struct{ Where []string } }
			PackageData map[string][]string `toml:"package-data"`
		}
	}
}

// carried are the folders with which a package builds itself. One with a library has no use for them.
var carried = []string{"recipes/", "source/", "headers/"}

// readProject makes a distribution of a folder with a pyproject.toml.
func readProject(folder fs.FS) (*Distribution, error) {
	text, err := fs.ReadFile(folder, "pyproject.toml")
	if err != nil {
		return nil, err
	}
	var p pyproject
	if err := tomlfmt.Read(text, &p); err != nil {
		return nil, fmt.Errorf("pyproject.toml: %w", err)
	}
	d := &Distribution{
		Name: p.Project.Name, Version: p.Project.Version, Summary: p.Project.Description, License: p.Project.License,
		RequiresPython: p.Project.RequiresPython, Requires: p.Project.Dependencies, Platform: anyPlatform,
	}
	readme, err := fs.ReadFile(folder, "README.md")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d.Readme = string(readme)
	for _, where := range p.Tool.Setuptools.Packages.Find.Where {
		source, err := fs.Sub(folder, where)
		if err != nil {
			return nil, err
		}
		if err := d.addPackages(source, p.Tool.Setuptools.PackageData["*"]); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
	}
	d.Typed = slices.ContainsFunc(d.Files, func(f File) bool { return path.Base(f.Name) == "py.typed" })
	return d, nil
}

// addPackages adds the modules of every package below a folder, and of its other files those that fit one of the patterns.
func (d *Distribution) addPackages(source fs.FS, patterns []string) error {
	return fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			return refuseLink(source, name)
		}
		if name == "." || !entry.IsDir() {
			return nil
		}
		if _, err := fs.Stat(source, path.Join(name, "__init__.py")); errors.Is(err, fs.ErrNotExist) {
			return fs.SkipDir // no package, and no part of one that Python would find
		} else if err != nil {
			return err
		}
		found, err := members(source, name, patterns)
		for _, file := range found {
			content, err := fs.ReadFile(source, file)
			if err != nil {
				return err
			}
			d.Files = append(d.Files, File{Name: file, Content: content})
		}
		return err
	})
}

// refuseLink reports a link to a package: other installers follow it or not, and it may lead to a folder above.
func refuseLink(source fs.FS, name string) error {
	switch _, err := fs.Stat(source, path.Join(name, "__init__.py")); {
	case err == nil:
		return fmt.Errorf("%s is a link to a package: move the folder here", name)
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil // a file, or a folder that is no package
	default:
		return err
	}
}

// members are the files of one package. Hidden ones are drafts of an editor.
func members(source fs.FS, name string, patterns []string) (files []string, err error) {
	for _, pattern := range append([]string{"*.py"}, patterns...) {
		if slices.ContainsFunc(carried, func(folder string) bool { return strings.HasPrefix(pattern, folder) }) {
			continue
		}
		// Glob passes over folders that cannot be read.
		if _, err := fs.Stat(source, path.Join(name, path.Dir(pattern))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		found, err := fs.Glob(source, path.Join(name, pattern))
		if err != nil {
			return nil, fmt.Errorf("package-data %q: %w", pattern, err)
		}
		files = append(files, slices.DeleteFunc(found, func(f string) bool { return strings.HasPrefix(path.Base(f), ".") })...)
	}
	slices.SortFunc(files, cmp.Compare[string])
	return slices.Compact(files), nil
}
