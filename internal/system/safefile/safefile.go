// Package safefile changes files below one folder, never outside of it, and never by halves: links that lead out of the
// folder are refused, and whoever reads a file sees its old content or its new one.
package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Temporary is the suffix of the hidden files that become others when they are complete. A process that was killed can
// leave one behind; the next Write of the same file takes its place.
const Temporary = ".opcast-new"

// Write gives a file below root new content in one step, and leaves it alone if it has that content already. Folders are
// made as needed. The name has slashes. One process at a time may write a file.
func Write(root *os.Root, name string, content []byte) (changed bool, err error) {
	folder, file := path.Split(name)
	temp := folder + "." + file + Temporary
	if _, err := root.Lstat(temp); err == nil {
		if err := root.Remove(temp); err != nil {
			return false, explain(root, "write", name, err)
		}
	}
	if Holds(root, name, content) {
		return false, nil
	}
	if err := MkdirAll(root, path.Dir(name)); err != nil {
		return false, err
	}
	if err := fill(root, temp, content); err != nil {
		return false, explain(root, "write", name, errors.Join(err, root.Remove(temp)))
	}
	if err := root.Rename(temp, name); err != nil {
		return false, explain(root, "write", name, errors.Join(err, root.Remove(temp)))
	}
	return true, nil
}

// Holds says whether a file below root has that content, and is no link to one that has.
func Holds(root *os.Root, name string, content []byte) bool {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	old, err := root.ReadFile(name)
	return err == nil && bytes.Equal(old, content)
}

// fill makes a file that is on the disk when it returns.
func fill(root *os.Root, name string, content []byte) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// MkdirAll makes a folder below root, with those above it.
func MkdirAll(root *os.Root, name string) error {
	if err := root.MkdirAll(name, 0o755); err != nil {
		return explain(root, "make folder", name, err)
	}
	return nil
}

// Remove removes a file or an empty folder below root; one that does not exist is no error.
func Remove(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(root, "remove", name, err)
	}
	return nil
}

// RemoveAll removes what has the name below root, with all that it holds. Of a link it removes the link.
func RemoveAll(root *os.Root, name string) error {
	if err := root.RemoveAll(name); err != nil {
		return explain(root, "remove", name, err)
	}
	return nil
}

// OpenFile opens a file below root, as os.OpenFile does.
func OpenFile(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, error) {
	file, err := root.OpenFile(name, flag, mode)
	if err != nil {
		return nil, explain(root, "open", name, err)
	}
	return file, nil
}

// Read returns the content of a file below root.
func Read(root *os.Root, name string) ([]byte, error) {
	content, err := root.ReadFile(name)
	if err != nil {
		return nil, explain(root, "read", name, err)
	}
	return content, nil
}

// Inside returns an error if the name leads out of dir through a link. What does not exist yet leads nowhere.
func Inside(dir, name string) error {
	return In(dir, func(root *os.Root) error {
		if link := leaving(root, name); link != "" {
			return explain(root, "use", name, nil)
		}
		return nil
	})
}

// In does something below the folder dir.
func In(dir string, do func(root *os.Root) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	return errors.Join(do(root), root.Close())
}

// explain says what was tried with which file, and names the link if one leads out of the folder.
func explain(root *os.Root, what, name string, err error) error {
	if link := leaving(root, name); link != "" {
		return fmt.Errorf("%s %s: %s is a link that leads out of %s: replace it by what it should hold", what, name, link,
			filepath.Base(root.Name()))
	}
	var failed *fs.PathError
	var moved *os.LinkError
	switch { // the path stands before it
	case errors.As(err, &failed):
		err = failed.Err
	case errors.As(err, &moved):
		err = moved.Err
	}
	return fmt.Errorf("%s %s: %w", what, name, err)
}

// leaving returns the first part of the path that is a link to something outside, or "".
func leaving(root *os.Root, name string) string {
	parts := strings.Split(path.Clean(name), "/")
	for i := range parts {
		part := strings.Join(parts[:i+1], "/")
		info, err := root.Lstat(part)
		if err != nil {
			return ""
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := root.Stat(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return part
		}
	}
	return ""
}

// FS is what lies below root, for reading. A link that leads out of the folder is an error that names it.
func FS(root *os.Root) fs.FS { return files{root} }

type files struct{ root *os.Root }

// Open opens a file or folder.
func (f files) Open(name string) (fs.File, error) {
	file, err := f.root.FS().Open(name)
	if err != nil {
		if link := leaving(f.root, name); link != "" {
			return nil, explain(f.root, "read", name, err)
		}
		return nil, err
	}
	return file, nil
}
