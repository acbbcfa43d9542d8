package tree

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/opcast/opcast/internal/system/safefile"
)

// Runtime is the C++ part of a runtime: Root is its include folder, Sources are its units, CUDA those of nvcc, HIP those of a compiler
// for HIP and Emulator those of the emulated device, all relative to the project.
type Runtime struct {
	Root                         string
	Sources, CUDA, HIP, Emulator []string
}

// LaidOut is where opcast's runtime lies in a project that has none of its own.
const LaidOut = "build/runtime"

// FindRuntime returns the project's own runtime if it has one, as opcast's repository does, and otherwise opcast's,
// which LayRuntime puts below build/runtime.
func FindRuntime(dir string, embedded fs.FS) (t Runtime, err error) {
	t.Root = "backend"
	files := os.DirFS(Local(dir, t.Root))
	if _, err := fs.Stat(files, "opcast"); err != nil {
		t.Root, files = LaidOut, embedded
	}
	for pattern, units := range map[string]*[]string{
		"opcast/*.cc": &t.Sources, "opcast/*" + CUDASuffix: &t.CUDA, "opcast/*" + HIPSuffix: &t.HIP, "emulator/*.cc": &t.Emulator,
	} {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return t, fmt.Errorf("find the runtime: %w", err)
		}
		for _, f := range found {
			*units = append(*units, t.Root+"/"+f)
		}
	}
	return t, nil
}

// LayRuntime puts opcast's runtime where the project's units look for it, unless the project has its own.
func LayRuntime(dir string, embedded fs.FS) error {
	t, err := FindRuntime(dir, embedded)
	if err != nil {
		return err
	}
	return safefile.In(dir, func(root *os.Root) error { return t.Lay(root, embedded) })
}

// Lay makes the folder of the runtime hold the embedded files and nothing else.
func (t Runtime) Lay(root *os.Root, embedded fs.FS) error {
	if t.Root != LaidOut {
		return nil
	}
	write, remove, err := compareRuntime(root, embedded)
	if err != nil {
		return fmt.Errorf("lay the runtime out: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(write)) {
		if _, err := safefile.Write(root, name, write[name]); err != nil {
			return fmt.Errorf("lay the runtime out: %w", err)
		}
	}
	for _, name := range remove {
		if err := safefile.RemoveAll(root, name); err != nil {
			return fmt.Errorf("lay the runtime out: %w", err)
		}
	}
	return nil
}

// StaleRuntime lists the files of the runtime that differ from the embedded ones, are missing or left over. A runtime that
// was not laid out yet has none.
func StaleRuntime(dir string, embedded fs.FS) (stale []string, err error) {
	t, err := FindRuntime(dir, embedded)
	if err != nil || t.Root != LaidOut {
		return nil, err
	}
	err = safefile.In(dir, func(root *os.Root) error {
		if _, err := root.Stat(LaidOut); err != nil {
			return nil //nolint:nilerr // there is none, or none that can be read
		}
		write, remove, err := compareRuntime(root, embedded)
		stale = append(slices.Sorted(maps.Keys(write)), remove...)
		return err
	})
	return stale, err
}

// compareRuntime returns the files that have to be written, with their contents, and those that have to go. What cannot be
// read has no left-over files: writing tells more about it.
func compareRuntime(root *os.Root, embedded fs.FS) (write map[string][]byte, remove []string, err error) {
	write = map[string][]byte{}
	wanted := map[string]bool{}
	folders := []string{"opcast", "emulator", "emulator/hip"}
	for _, folder := range folders {
		files, err := fs.Glob(embedded, folder+"/*")
		if err != nil {
			return nil, nil, err
		}
		for _, name := range files {
			if slices.Contains(folders, name) {
				continue
			}
			content, err := fs.ReadFile(embedded, name)
			if err != nil {
				return nil, nil, err
			}
			target := LaidOut + "/" + name
			if wanted[target] = true; !safefile.Holds(root, target, content) {
				write[target] = content
			}
		}
		present, _ := fs.ReadDir(root.FS(), path.Join(LaidOut, folder))
		for _, entry := range present {
			name := path.Join(LaidOut, folder, entry.Name())
			if !wanted[name] && !slices.Contains(folders, path.Join(folder, entry.Name())) {
				remove = append(remove, name)
			}
		}
	}
	return write, remove, nil
}
