package safefile

import (
	"io/fs"
	"os"
)

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
