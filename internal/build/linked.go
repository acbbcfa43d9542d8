package build

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// linked are the files of the project, libraries and objects, that link names beside its options.
func (in inputs) linked() (files []string) {
	for _, word := range in.project.Manifest.Link {
		if filepath.IsLocal(filepath.FromSlash(word)) && isRegular(local(in.project.Dir, word)) {
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
		case filepath.IsAbs(word) && isRegular(word):
			files = append(files, word)
		case named && name != "":
			found, err := findLibrary(ctx, in.compiler, folders, name)
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// findLibrary asks the compiler where a library is that lies in none of the folders.
func findLibrary(ctx context.Context, c compiler, folders []string, name string) ([]string, error) {
	for _, file := range []string{"lib" + name + ".so", "lib" + name + ".a"} {
		for _, folder := range folders {
			if found := filepath.Join(folder, file); isRegular(found) {
				return []string{found}, nil
			}
		}
		// The linker will say that there is none.
		if found, err := c.find(ctx, file); err != nil || found != "" {
			return []string{found}, err
		}
	}
	return nil, nil
}

// find asks the compiler where a file of the system's libraries is; the path is empty where there is none.
func (c compiler) find(ctx context.Context, file string) (string, error) {
	words := append(slices.Clone(c.words[1:]), "-print-file-name="+file)
	out, err := exec.CommandContext(ctx, c.words[0], words...).Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for %s: %w", c.words[0], file, err)
	}
	// A name that comes back without a folder was not found.
	if found := strings.TrimSpace(string(out)); filepath.IsAbs(found) && isRegular(found) {
		return filepath.Clean(found), nil
	}
	return "", nil
}
