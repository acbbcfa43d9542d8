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
	"github.com/opcast/opcast/internal/framework"
)

// runtimeFiles copies the hand-written Python runtime, and the C++ of the XLA calls, into the project under its own name.
// This repository keeps them as they are: a file without the marker is never replaced.
func (g *generator) runtimeFiles() error {
	if err := g.copyRuntime(backend.FS, "backend", "python"); err != nil {
		return err
	}
	for _, name := range g.project.Manifest.Adaptors {
		if err := g.copyRuntime(adaptors.FS, "adaptors", name); err != nil {
			return err
		}
		if err := g.copyOwnRuntime(name); err != nil {
			return err
		}
	}
	return nil
}

// copyRuntime copies the files below a folder, if there is such a folder.
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
		name = strings.Replace(name, "src/opcast_", "src/"+g.project.Manifest.Name+"_", 1)
		g.runtimeFile(path.Join(folder, name), text)
		return nil
	})
}

// copyOwnRuntime copies the runtime that a framework has beside its templates.
func (g *generator) copyOwnRuntime(name string) error {
	fw, _ := framework.ByName(name)
	files, ok := fw.Runtime()
	if !ok {
		return nil
	}
	return fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return fmt.Errorf("read runtime: %w", err)
		}
		g.runtimeFile(path.Join(g.adaptorDir(name), file), text)
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
