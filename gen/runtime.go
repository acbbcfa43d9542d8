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
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// runtimeFiles copies the hand-written Python runtime, and the C++ of the XLA calls, into the project under its own name.
// This repository keeps them as they are: a file without the marker is never replaced.
func runtimeFiles(m *manifest.Manifest) ([]File, error) {
	out, err := copyRuntime(m, backend.FS, "backend", "python")
	if err != nil {
		return nil, err
	}
	for _, name := range m.Adaptors {
		for _, sources := range []string{"src", "csrc"} {
			files, err := copyRuntime(m, adaptors.FS, "adaptors", path.Join(name, sources))
			if err != nil {
				return nil, err
			}
			out = append(out, files...)
		}
	}
	return out, nil
}

// copyRuntime copies the files below a folder, if there is such a folder.
func copyRuntime(m *manifest.Manifest, files embed.FS, folder, below string) (out []File, err error) {
	if _, err := fs.Stat(files, below); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = fs.WalkDir(files, below, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read runtime: %w", err)
		}
		name = strings.Replace(name, "src/opcast_", "src/"+m.Name+"_", 1)
		out = append(out, runtimeFile(path.Join(folder, name), text))
		return nil
	})
	return out, err
}

// runtimeFile is the copy of a hand-written file, under a line that says so.
func runtimeFile(file string, text []byte) File {
	comment := "# "
	if slices.Contains([]string{".h", ".cc"}, path.Ext(file)) {
		comment = "// "
	}
	head := comment + Marker + "its runtime. DO NOT EDIT.\n"
	return File{Path: file, Content: append([]byte(head), text...), Runtime: true}
}
