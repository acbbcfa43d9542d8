package build

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tree is the C++ part of a runtime: root is its include folder, sources are its units and cuda those of nvcc, all
// relative to the project.
type tree struct {
	root          string
	sources, cuda []string
}

// laidOut is where opcast's runtime lies in a project that has none of its own.
const laidOut = "build/runtime"

// findRuntime returns the project's own runtime if it has one, as opcast's repository does, and otherwise opcast's,
// which LayRuntime puts below build/runtime.
func findRuntime(dir string, embedded fs.FS) (t tree, err error) {
	t.root = "backend"
	files := os.DirFS(local(dir, t.root))
	if _, err := fs.Stat(files, "opcast"); err != nil {
		t.root, files = laidOut, embedded
	}
	for pattern, units := range map[string]*[]string{"opcast/*.cc": &t.sources, "opcast/*" + cudaSuffix: &t.cuda} {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return t, fmt.Errorf("find the runtime: %w", err)
		}
		for _, f := range found {
			*units = append(*units, t.root+"/"+f)
		}
	}
	return t, nil
}

// LayRuntime puts opcast's runtime where the project's units look for it, unless the project has its own.
func LayRuntime(dir string, embedded fs.FS) error {
	t, err := findRuntime(dir, embedded)
	if err != nil || t.root != laidOut {
		return err
	}
	if err := layOut(local(dir, laidOut+"/opcast"), embedded); err != nil {
		return fmt.Errorf("lay the runtime out: %w", err)
	}
	return nil
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
