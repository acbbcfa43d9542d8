package mutants

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CopyProject copies a project with the results of its last build, and with the times of its files, so that the build of the
// copy compiles only what has changed in it.
func CopyProject(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (leftOut(filepath.ToSlash(name)) || isEnvironment(path)):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		return copyFile(path, filepath.Join(to, name))
	})
	if err != nil {
		return fmt.Errorf("copy the project: %w", err)
	}
	return nil
}

// leftOut reports whether a folder is no part of a copy: hidden ones, caches and results other than those of the compiler.
func leftOut(folder string) bool {
	if folder == "." {
		return false
	}
	name := filepath.Base(folder)
	if parent, _ := filepath.Split(folder); parent == "build/" {
		return name != "release" && name != "runtime"
	}
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"__pycache__", "dist", "node_modules"}, name)
}

// isEnvironment reports whether a folder is a virtual environment of Python.
func isEnvironment(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "pyvenv.cfg"))
	return err == nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Close()
	} else {
		_ = out.Close() // the first error is the one to tell
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
