package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/safefile"
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
	in := inputs{project: project, embedded: embedded, env: &pyenv.Env{}, compiler: compiler.CXX{Words: []string{"c++"}}}
	recipes, err := addRecipe(nil, "cpu", in, embedded, generated)
	if err == nil && slices.Contains(project.Manifest.Devices, "cuda") {
		in.cuda = &compiler.CUDA{}
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
	return append(to, Recipe{path.Join(in.project.BackendFolder(), recipeFolder, name+".ninja"), []byte(p.portable)}), nil
}

// recipeFolder is where a package has what says how it builds itself.
const recipeFolder = "recipes"

// Pack copies the sources into the backend's package, which then builds itself wherever it is installed and imported,
// and takes the libraries out of the packages. It returns the number of files. All is read before anything is replaced, and
// nothing is read outside of the project but the headers that the manifest names: who installs the package would get it.
//
// The headers of Python distributions are copied, since who installs the package may have none of them, or others than
// those with which the kernels were tested. Those of the system, and those in absolute folders, are not.
func Pack(project *opdef.Project, embedded fs.FS, headers []Headers) (int, error) {
	sources, carried, err := carry(project, embedded, headers)
	if err != nil {
		return 0, err
	}
	err = safefile.In(project.Dir, func(root *os.Root) error {
		home := project.BackendFolder()
		err := pack(root, sources, path.Join(home, tree.PackedSources))
		if err == nil {
			err = pack(root, carried, path.Join(home, tree.PackedHeaders))
		}
		if err != nil {
			return fmt.Errorf("pack sources: %w", err)
		}
		for _, file := range installed(project) {
			if err := safefile.RemoveAll(root, path.Dir(file)); err != nil {
				return err
			}
		}
		return nil
	})
	return len(sources) + len(carried), err
}

// Packed returns what Pack copies, and the recipes, by their paths in the backend's package.
func Packed(project *opdef.Project, embedded fs.FS, headers []Headers) (map[string][]byte, error) {
	sources, carried, err := carry(project, embedded, headers)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, text := range sources {
		files[path.Join(tree.PackedSources, name)] = text
	}
	for name, text := range carried {
		files[path.Join(tree.PackedHeaders, name)] = text
	}
	err = safefile.In(project.Dir, func(root *os.Root) error {
		home := project.BackendFolder()
		recipes, err := fs.Glob(root.FS(), path.Join(home, recipeFolder, "*.ninja"))
		if err != nil {
			return err
		}
		found, err := readAll(root, recipes)
		for name, text := range found {
			files[strings.TrimPrefix(name, home+"/")] = text
		}
		return err
	})
	return files, err
}

// carry reads the sources of a project and the headers of others that its package carries.
func carry(project *opdef.Project, embedded fs.FS, headers []Headers) (sources, carried map[string][]byte, err error) {
	in := inputs{project: project, embedded: embedded}
	if in.runtime, err = tree.FindRuntime(project.Dir, embedded); err != nil {
		return nil, nil, err
	}
	names, err := in.files()
	if err != nil {
		return nil, nil, err
	}
	if carried, err = carriedHeaders(headers); err != nil {
		return nil, nil, fmt.Errorf("pack headers: %w", err)
	}
	err = safefile.In(project.Dir, func(root *os.Root) error {
		if sources, err = readAll(root, names); err != nil {
			return fmt.Errorf("pack sources: %w", err)
		}
		return nil
	})
	return sources, carried, err
}

// readAll reads files of the project.
func readAll(root *os.Root, names []string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range names {
		text, err := safefile.Read(root, name)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}

// pack makes a folder of the package hold the files and nothing else. Without files there is no such folder.
func pack(root *os.Root, files map[string][]byte, target string) error {
	if len(files) == 0 {
		return safefile.RemoveAll(root, target)
	}
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

// fill writes files into a folder.
func fill(root *os.Root, files map[string][]byte, folder string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := safefile.Write(root, path.Join(folder, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}
