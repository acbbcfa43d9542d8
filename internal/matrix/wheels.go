package matrix

import (
	"fmt"
	"path/filepath"
	"slices"
)

// wheels are the files that an environment needs to call a collection through adaptors: the backend's and one for each of them.
func wheels(o Options, adaptors []string) ([]string, error) {
	if o.Wheels == "" {
		return nil, nil
	}
	var files []string
	for _, name := range append([]string{"backend"}, adaptors...) {
		if name != "backend" && !slices.Contains(o.Project.Manifest.Adaptors, name) {
			continue // a caller without a package
		}
		pattern := o.Project.Manifest.Name + "_" + name + "-*.whl"
		found, err := filepath.Glob(filepath.Join(o.Wheels, pattern))
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%w: expected one %s in %s, there are %d", ErrWheels, pattern, o.Wheels, len(found))
		}
		if err != nil {
			return nil, err
		}
		files = append(files, found[0])
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
