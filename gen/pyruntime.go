package gen

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/adaptors"
	"github.com/opcast/opcast/backend"
)

// runtimeFiles copies the hand-written Python runtime, and the C++ of the XLA calls, into the project under its own name.
// This repository keeps them as they are: a file without the marker is never replaced.
func (g *generator) runtimeFiles() error {
	if err := g.copyRuntime(backend.FS, "backend", "python"); err != nil {
		return err
	}
	for _, name := range g.project.Manifest.Adaptors {
		for _, sources := range []string{"src", "csrc"} {
			if err := g.copyRuntime(adaptors.FS, "adaptors", path.Join(name, sources)); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyRuntime copies the hand-written files below a folder, if there is such a folder. What lies beside them with the
// marker was generated for the collection of this repository.
func (g *generator) copyRuntime(files embed.FS, folder, below string) error {
	if _, err := fs.Stat(files, below); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fs.WalkDir(files, below, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read runtime: %w", err)
		}
		if marked(text) {
			return nil
		}
		name = strings.Replace(name, "src/opcast_", "src/"+g.project.Manifest.Name+"_", 1)
		g.runtimeFile(path.Join(folder, name), text)
		return nil
	})
}

// runtimeFile adds a hand-written file under a line that says so.
func (g *generator) runtimeFile(file string, text []byte) {
	comment := "# "
	if slices.Contains([]string{".h", ".cc"}, path.Ext(file)) {
		comment = "// "
	}
	head := comment + Marker + "its runtime. DO NOT EDIT.\n"
	g.files = append(g.files, File{Path: file, Content: append([]byte(head), text...), Runtime: true})
}
