package build

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
)

// install copies the libraries into the Python packages and links the packages into the environment.
func install(o Options, p *plan) (*Result, error) {
	homes := libraryHomes(o.Project)
	result := &Result{Library: p.libraries[0].output}
	for i, l := range p.libraries {
		content, err := os.ReadFile(local(o.Project.Dir, l.output))
		if err != nil {
			return nil, fmt.Errorf("install %s: %w", l.name, err)
		}
		if _, err := replace(filepath.Join(local(o.Project.Dir, homes[i]), l.name), content); err != nil {
			return nil, err
		}
		if i == 0 {
			result.SHA256 = fmt.Sprintf("%x", sha256.Sum256(content))
		}
	}
	if o.CopyOf == "" {
		if err := link(o); err != nil {
			return nil, err
		}
	}
	result.Import = importCommand(o)
	return result, nil
}

// packageFolder is the backend's Python package.
func packageFolder(p *opdef.Project) string {
	return "backend/python/src/" + p.Manifest.Name + "_backend"
}

// libraryHomes are the folders of the packages for the backend and the JAX handlers.
func libraryHomes(p *opdef.Project) []string {
	return []string{packageFolder(p) + "/lib", "adaptors/jax/src/" + p.Manifest.Name + "_jax/lib"}
}

// link makes the environment find the packages where they are, as `pip install --editable` would.
func link(o Options) error {
	folders := []string{local(o.Project.Dir, "backend/python/src")}
	for _, a := range o.Project.Manifest.Adaptors {
		folders = append(folders, local(o.Project.Dir, "adaptors/"+a+"/src"))
	}
	path := filepath.Join(o.Env.Site, "_"+o.Project.Manifest.Name+"_editable.pth")
	if _, err := replace(path, []byte(strings.Join(folders, "\n")+"\n")); err != nil {
		return &pyenv.MissingError{
			Text:    fmt.Sprintf("no permission to link the packages into %s: %v", o.Env.Site, err),
			Command: "python3 -m venv .venv   (then pass --python .venv)",
		}
	}
	return nil
}

// importCommand imports the first adaptor whose framework is installed, or else the backend.
func importCommand(o Options) string {
	m := o.Project.Manifest
	module := m.Name + "_backend"
	if i := slices.IndexFunc(m.Adaptors, func(a string) bool { return o.Env.Packages[a] != "" }); i >= 0 {
		module = m.Name + "_" + m.Adaptors[i]
	}
	return shellWords(o.Env.Python, "-c", "import "+module)
}

// replace gives a file new content, in one step for readers, and leaves it alone if it has that content already.
func replace(path string, content []byte) (changed bool, err error) {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("write %s: %w", path, err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".opcast-*")
	if err != nil {
		return false, fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temp.Name()) // fails after the rename, which is as it should be
	_, err = temp.Write(content)
	for _, step := range []func() error{
		func() error { return temp.Chmod(0o644) }, temp.Close, func() error { return os.Rename(temp.Name(), path) },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return false, fmt.Errorf("write %s: %w", path, err)
	}
	return true, nil
}
