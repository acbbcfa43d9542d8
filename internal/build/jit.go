package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/pyenv"
)

// Recipe is a build that a package without a library does itself when it is imported: build.ninja without what differs
// between machines, which the package's _build.py finds out.
type Recipe struct {
	// Path is relative to the project, with slashes.
	Path string
	Text []byte
}

// Recipes are the builds of a project by the same plan as Run's: one for the CPU, and one for CUDA, too, if the manifest
// names it. The generated files are given by their paths. A project without sources has no recipe yet.
func Recipes(project *opdef.Project, embedded fs.FS, generated []string) ([]Recipe, error) {
	// The machine of a recipe is nobody's.
	in := inputs{project: project, env: &pyenv.Env{}, compiler: compiler{words: []string{"c++"}}}
	recipes, err := addRecipe(nil, "cpu", in, embedded, generated)
	if err == nil && slices.Contains(project.Manifest.Devices, "cuda") {
		in.cuda = &cuda{}
		recipes, err = addRecipe(recipes, "cuda", in, embedded, generated)
	}
	return recipes, err
}

func addRecipe(to []Recipe, name string, in inputs, embedded fs.FS, generated []string) ([]Recipe, error) {
	if err := in.findUnits(embedded, generated); err != nil {
		return nil, err
	}
	if len(in.kernels) == 0 {
		return to, nil
	}
	p, err := newPlan(in)
	if err != nil {
		return nil, err
	}
	return append(to, Recipe{packageFolder(in.project) + "/recipes/" + name + ".ninja", []byte(p.portable)}), nil
}

// packedFolder is where a package carries the sources that it builds itself from.
const packedFolder = "source"

// Pack copies the sources into the backend's package, which then builds itself wherever it is installed and imported,
// and takes the libraries out of the packages. It returns the number of files. All is read before anything is replaced.
func Pack(project *opdef.Project, embedded fs.FS) (int, error) {
	in := inputs{project: project}
	var err error
	if in.runtime, err = findRuntime(project.Dir, embedded); err != nil {
		return 0, err
	}
	files, err := in.files()
	if err != nil {
		return 0, err
	}
	files = append(files, manifest.File)
	if err := pack(project.Dir, files, local(project.Dir, packageFolder(project))); err != nil {
		return 0, fmt.Errorf("pack sources: %w", err)
	}
	for _, home := range libraryHomes(project) {
		if err := os.RemoveAll(local(project.Dir, home)); err != nil {
			return 0, fmt.Errorf("remove libraries: %w", err)
		}
	}
	return len(files), nil
}

// pack puts copies of the files into the package in place of those that it carries.
func pack(dir string, files []string, home string) (err error) {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(home, ".source-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	for _, f := range files {
		text, err := os.ReadFile(local(dir, f))
		if err != nil {
			return err
		}
		if _, err := replace(local(temp, path.Join("new", f)), text); err != nil {
			return err
		}
	}
	target := filepath.Join(home, packedFolder)
	if err := os.Rename(target, filepath.Join(temp, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(filepath.Join(temp, "new"), target)
}
