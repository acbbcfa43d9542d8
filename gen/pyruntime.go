package gen

import (
	"embed"
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
	for _, framework := range g.project.Manifest.Adaptors {
		if err := g.copyRuntime(adaptors.FS, "adaptors", framework); err != nil {
			return err
		}
	}
	return nil
}

func (g *generator) copyRuntime(files embed.FS, folder, below string) error {
	return fs.WalkDir(files, below, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read runtime: %w", err)
		}
		comment := "# "
		if slices.Contains([]string{".h", ".cc"}, path.Ext(name)) {
			comment = "// "
		}
		head := comment + Marker + "its runtime. DO NOT EDIT.\n"
		name = strings.Replace(name, "src/opcast_", "src/"+g.project.Manifest.Name+"_", 1)
		g.files = append(g.files, File{Path: path.Join(folder, name), Content: append([]byte(head), text...), Runtime: true})
		return nil
	})
}
