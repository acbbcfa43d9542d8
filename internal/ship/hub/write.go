package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/opcast/opcast/internal/system/safefile"
)

// Folder is that of the variants in the repository of a kernel.
const Folder = "build"

// Check says whether a folder can become the repository of a kernel. The folder of the variants may be that of something else,
// such as a build of a project.
func Check(dir string) error {
	_, err := earlier(dir)
	return err
}

// earlier are the variants that a folder has.
func earlier(dir string) (names []string, err error) {
	folder := filepath.Join(dir, Folder)
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(folder, entry.Name(), metadataFile)); err != nil {
			return nil, fmt.Errorf("%s is no folder of kernels: it holds %s", folder, entry.Name())
		}
		names = append(names, entry.Name())
	}
	return names, nil
}

// Write makes a folder the repository of a kernel: these variants, no others, and what lies beside them. Who may read and write
// the files does not depend on the process.
func Write(dir string, variants []Variant, beside []File) error {
	names, err := earlier(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write kernel: %w", err)
	}
	return safefile.In(dir, func(root *os.Root) error {
		for _, name := range names {
			if err := safefile.RemoveAll(root, path.Join(Folder, name)); err != nil {
				return err
			}
		}
		for _, v := range variants {
			for _, f := range v.Files {
				if err := write(root, path.Join(Folder, v.Name, f.Name), f.Content); err != nil {
					return err
				}
			}
		}
		for _, f := range beside {
			if err := write(root, f.Name, f.Content); err != nil {
				return err
			}
		}
		return nil
	})
}

// write gives a file its content and its mode, and those of its folders theirs.
func write(root *os.Root, name string, content []byte) error {
	if _, err := safefile.Write(root, name, content); err != nil {
		return err
	}
	if err := root.Chmod(name, 0o644); err != nil {
		return fmt.Errorf("write kernel: %w", err)
	}
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if err := root.Chmod(folder, 0o755); err != nil {
			return fmt.Errorf("write kernel: %w", err)
		}
	}
	return nil
}
