package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// folders are those that hold the project's sources and headers, which are all that a build reads beside the packages
// of the environment and the system.
func (in inputs) folders() []string {
	list := []string{in.runtime.Root + "/opcast", "backend/gen"}
	for _, g := range in.project.Manifest.Sources {
		first, _, _ := strings.Cut(tree.GlobRoot(g), "/") // sources of one folder may share the headers of another
		list = append(list, first)
	}
	for _, fw := range withHandlers(in.project) {
		list = append(list, handlerFolder(&fw))
	}
	list = slices.Concat(list, in.project.Manifest.Include, in.headerFolders())
	slices.Sort(list)
	return slices.Compact(list)
}

// files are what decides a library's bytes: the manifest, the sources and headers in the folders, and what is linked.
func (in inputs) files() ([]string, error) {
	files := append(in.linked(), manifest.File)
	if in.runtime.Root == tree.LaidOut { // which need not be laid out yet
		names, err := fs.Glob(in.embedded, "opcast/*")
		if err != nil {
			return nil, fmt.Errorf("find the runtime: %w", err)
		}
		for _, name := range names {
			files = append(files, tree.LaidOut+"/"+name)
		}
	}
	for _, folder := range in.folders() {
		if folder == tree.LaidOut+"/opcast" {
			continue
		}
		found, err := tree.Glob(in.project.Dir, path.Join(folder, "**"))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(in.headerFolders(), folder) { // a header of others need not look like one
			found = slices.DeleteFunc(found, func(f string) bool { return !tree.IsSource(f) })
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil // one folder may hold another
}

// sum is the digest of all files.
func (in inputs) sum() (string, error) {
	files, err := in.files()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, f := range files {
		text, err := in.source(f)
		if err != nil {
			return "", fmt.Errorf("read sources: %w", err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", f, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// source is the content of a file that decides a library's bytes.
func (in inputs) source(file string) ([]byte, error) {
	if name, ok := strings.CutPrefix(file, tree.LaidOut+"/"); ok && in.runtime.Root == tree.LaidOut {
		return fs.ReadFile(in.embedded, name)
	}
	if file == manifest.File && in.project.ManifestText != nil {
		return in.project.ManifestText, nil // the file may say something else by now
	}
	return os.ReadFile(tree.Local(in.project.Dir, file))
}
