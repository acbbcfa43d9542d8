package build

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/tree"
)

// linked are the files of the project, libraries and objects, that link names beside its options.
func (in inputs) linked() (files []string) {
	for _, word := range in.project.Manifest.Link {
		if filepath.IsLocal(filepath.FromSlash(word)) && tree.IsRegular(tree.Local(in.project.Dir, word)) {
			files = append(files, path.Clean(word))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// outsideLibraries are the files that link names otherwise: by absolute paths, or by the names of libraries, which are
// searched as the linker does.
func outsideLibraries(ctx context.Context, in inputs) (files []string, err error) {
	var folders []string
	for _, word := range in.project.Manifest.Link {
		if folder, ok := strings.CutPrefix(word, "-L"); ok && folder != "" {
			folders = append(folders, place{project: in.project.Dir}.file(folder))
		}
	}
	for _, word := range in.project.Manifest.Link {
		name, named := strings.CutPrefix(word, "-l")
		switch {
		case filepath.IsAbs(word) && tree.IsRegular(word):
			files = append(files, word)
		case named && name != "":
			found, err := compiler.FindLibrary(ctx, in.compiler, folders, name)
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
