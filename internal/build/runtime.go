package build

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tree is the C++ part of a runtime: root is its include folder, sources are its units, both relative to the project.
type tree struct {
	root    string
	sources []string
}

// findRuntime returns the project's own runtime if it has one, as opcast's repository does. Otherwise it lays opcast's
// files out below build/runtime.
func findRuntime(dir string, embedded fs.FS) (tree, error) {
	t := tree{root: "backend"}
	if _, err := os.Stat(filepath.Join(dir, "backend", "opcast")); err != nil {
		t.root = "build/runtime"
		if err := layOut(filepath.Join(dir, "build", "runtime", "opcast"), embedded); err != nil {
			return t, fmt.Errorf("lay the runtime out: %w", err)
		}
	}
	var err error
	t.sources, err = glob(dir, t.root+"/opcast/*.cc")
	return t, err
}

// layOut makes the folder hold the embedded files and nothing else. Files that are right already keep their times, so
// that nothing is compiled again.
func layOut(folder string, embedded fs.FS) error {
	files, err := fs.Glob(embedded, "opcast/*")
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, name := range files {
		content, err := fs.ReadFile(embedded, name)
		if err != nil {
			return err
		}
		target := filepath.Join(folder, filepath.Base(name))
		if _, err := replace(target, content); err != nil {
			return err
		}
		wanted[target] = true
	}
	present, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return err
	}
	for _, path := range present {
		if wanted[path] {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}
