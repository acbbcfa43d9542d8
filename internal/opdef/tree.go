package opdef

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/diag"
)

// maxFile is the size of the largest definition or manifest.
const maxFile = 256 << 10

// tree is a project's folder. Nothing outside it can be read through it, not even by symbolic links.
type tree struct {
	root *os.Root
	// opdefs is the folder of the definitions in it.
	opdefs string
}

func openTree(dir string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	return &tree{root, opdefsDir}, nil
}

func (t *tree) close() { _ = t.root.Close() }

func (t *tree) exists(name string) bool {
	_, err := t.root.Lstat(name)
	return err == nil
}

// read returns the contents of a regular file.
func (t *tree) read(name string) ([]byte, error) {
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
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, plain(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d KiB", maxFile>>10)
	}
	return data, nil
}

// plain drops the operation and the path of a file error: its reader knows the file. Missing files stay recognisable.
func plain(err error) error {
	var fault *fs.PathError
	if errors.As(err, &fault) && !errors.Is(err, fs.ErrNotExist) {
		return fault.Err
	}
	return err
}

// definitions lists all *.toml in the folder of the definitions, in order. Links to folders are reported, as following them could go anywhere.
func (t *tree) definitions(diags *diag.List) []string {
	var files []string
	visit := func(name string, entry fs.DirEntry, err error) error {
		pos := diag.Pos{File: name, Line: 1, Col: 1}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			diags.Add(pos, codeFile, "", "%s", plain(err))
			return nil
		case name != t.opdefs && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(name, ".toml") && !entry.IsDir():
			files = append(files, name)
		case entry.Type()&fs.ModeSymlink != 0 && !strings.HasSuffix(name, ".py"):
			if info, err := t.root.Stat(name); err != nil || info.IsDir() {
				diags.Add(pos, codeFile, "move the folder here", "%s is a link to a folder", name)
			}
		}
		return nil
	}
	_ = fs.WalkDir(t.root.FS(), t.opdefs, visit) // visit keeps every error
	slices.Sort(files)
	return files
}

// leaves returns the part of a glob, or a file that it matches, that is a link out of the project, or "".
func (t *tree) leaves(glob string) string {
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
