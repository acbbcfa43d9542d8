// Package projectfs reads the files of a project. It reads nothing outside the project's folder, neither through ".." nor
// through symbolic links.
package projectfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/tomlfmt"
)

// DefinitionsDir is the folder of the definitions in a project.
const DefinitionsDir = "opdefs"

// MaxFile is the size in bytes of the largest definition or manifest.
const MaxFile = tomlfmt.MaxSize

// Tree is an open folder of a project. Names in it have slashes and are relative to the folder.
type Tree struct {
	root *os.Root
	// definitions is the folder of the definitions in it.
	definitions string
}

// Open opens the project in dir, whose definitions are in the given folder of it.
func Open(dir, definitions string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	return &Tree{root, definitions}, nil
}

// Close closes the folder.
func (t *Tree) Close() { _ = t.root.Close() }

// Exists says whether there is a file, a folder or a link of the name.
func (t *Tree) Exists(name string) bool {
	_, err := t.root.Lstat(name)
	return err == nil
}

// MaxLarge is the size in bytes of the largest file that ReadLarge returns.
const MaxLarge = 16 << 20

// Read returns the contents of a regular file of at most MaxFile bytes.
func (t *Tree) Read(name string) ([]byte, error) { return t.read(name, MaxFile) }

// ReadLarge returns the contents of a regular file of at most MaxLarge bytes.
func (t *Tree) ReadLarge(name string) ([]byte, error) { return t.read(name, MaxLarge) }

func (t *Tree) read(name string, most int64) ([]byte, error) {
	info, err := t.root.Stat(name)
	if err != nil {
		return nil, plain(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := t.root.Open(name)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, plain(err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("the file is larger than %d KiB", most>>10)
	}
	return data, nil
}

// plain drops the operation and the path of a file error: its reader knows the file. Missing files stay recognisable.
func plain(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) && !errors.Is(err, fs.ErrNotExist) {
		return failed.Err
	}
	return err
}

// Definitions lists all *.toml in the folder of the definitions, in order. Links to folders are reported, as following them
// could go anywhere.
func (t *Tree) Definitions(diags *diag.List) []string {
	var files []string
	visit := func(name string, entry fs.DirEntry, err error) error {
		pos := diag.Pos{File: name, Line: 1, Col: 1}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			diags.Add(pos, code.File, "", "%s", plain(err))
			return nil
		case name != t.definitions && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(name, ".toml") && !entry.IsDir():
			files = append(files, name)
		case entry.Type()&fs.ModeSymlink != 0 && !strings.HasSuffix(name, ".py"):
			if info, err := t.root.Stat(name); err != nil || info.IsDir() {
				diags.Add(pos, code.File, "move the folder here", "%s is a link to a folder", name)
			}
		}
		return nil
	}
	_ = fs.WalkDir(t.root.FS(), t.definitions, visit) // visit keeps every error
	slices.Sort(files)
	return files
}

// Files lists what a glob matches, in order.
func (t *Tree) Files(glob string) []string {
	matches, _ := fs.Glob(t.root.FS(), glob) // a glob of the program's own is sound
	return matches
}

// Family returns the folder of a definition, relative to that of all definitions; it is empty where they are the same.
func (t *Tree) Family(file string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path.Dir(file), t.definitions), "/")
}

// Leaves returns the part of a glob, or a file that it matches, that is a link out of the project, or "".
func (t *Tree) Leaves(glob string) string {
	clean := path.Clean(glob)
	fixed := clean
	if i := strings.IndexAny(clean, "*?[\\"); i >= 0 {
		fixed = path.Dir(clean[:i] + "x")
	}
	matches, _ := fs.Glob(t.root.FS(), clean)
	for _, name := range append([]string{fixed}, matches...) {
		if _, err := t.root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
	return ""
}
