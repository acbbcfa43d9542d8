package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
	"github.com/opcast/opcast/internal/safefile"
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
	in := inputs{project: project, embedded: embedded, env: &pyenv.Env{}, compiler: compiler{words: []string{"c++"}}}
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
// and takes the libraries out of the packages. It returns the number of files. All is read before anything is replaced, and
// nothing is read outside of the project: who installs the package would get it.
func Pack(project *opdef.Project, embedded fs.FS) (int, error) {
	in := inputs{project: project, embedded: embedded}
	var err error
	if in.runtime, err = findRuntime(project.Dir, embedded); err != nil {
		return 0, err
	}
	files, err := in.files()
	if err != nil {
		return 0, err
	}
	err = safefile.In(project.Dir, func(root *os.Root) error {
		if err := pack(root, files, packageFolder(project)); err != nil {
			return fmt.Errorf("pack sources: %w", err)
		}
		for _, file := range installed(project) {
			if err := safefile.RemoveAll(root, path.Dir(file)); err != nil {
				return err
			}
		}
		return nil
	})
	return len(files), err
}

// pack puts copies of the files into the package in place of those that it carries.
func pack(root *os.Root, files []string, home string) error {
	target := path.Join(home, packedFolder)
	filled := target + ".new" // there may be one of a process that was killed
	if err := safefile.RemoveAll(root, filled); err != nil {
		return err
	}
	err := fill(root, files, filled)
	if err == nil {
		err = safefile.RemoveAll(root, target)
	}
	if err == nil {
		err = root.Rename(filled, target)
	}
	if err != nil {
		return errors.Join(err, safefile.RemoveAll(root, filled))
	}
	return nil
}

// fill copies files of the project into a folder.
func fill(root *os.Root, files []string, folder string) error {
	for _, f := range files {
		text, err := safefile.Read(root, f)
		if err != nil {
			return err
		}
		if _, err := safefile.Write(root, path.Join(folder, f), text); err != nil {
			return err
		}
	}
	return nil
}
