package matrix

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// wheels are the files that an environment needs to call a collection through adaptors: the backend's and one for each of them.
func wheels(o Options, adaptors []string) (files []string, err error) {
	if o.Wheels == "" {
		return nil, nil
	}
	for _, name := range append([]string{"backend"}, adaptors...) {
		pattern := o.Project.Manifest.Name + "_" + name + "-*.whl"
		found, err := fs.Glob(os.DirFS(o.Wheels), pattern)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%w: expected one %s in %s, there are %d", ErrWheels, pattern, o.Wheels, len(found))
		}
		if err != nil {
			return nil, err
		}
		files = append(files, filepath.Join(o.Wheels, found[0]))
	}
	return files, nil
}
