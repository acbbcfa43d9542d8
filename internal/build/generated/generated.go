// Package generated compares the files that a project's definitions generate with the files in its folder. Package gen makes
// the sources and package build the recipes; this package is where the two meet.
package generated

import (
	"fmt"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Compare generates all files in memory and finds those that differ on disk. The caller closes the changes. If the
// definitions hold mistakes, there are diagnostics and no changes.
func Compare(p *opdef.Project) (*gen.Changes, diag.List, error) {
	if removed := Removed(p); len(removed) > 0 {
		return nil, removed, nil
	}
	files, err := gen.Generate(p)
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	recipes, err := build.Recipes(p, backend.FS, paths)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range recipes {
		files = append(files, gen.File{Path: r.Path, Content: r.Text})
	}
	changes, err := gen.Compare(p.Dir, files)
	return changes, nil, err
}

// Stale lists the generated files that are missing, out of date or left over.
func Stale(p *opdef.Project) ([]string, error) {
	changes, diags, err := Compare(p)
	if err != nil {
		return nil, err
	}
	if len(diags) > 0 {
		return nil, fmt.Errorf("the definitions cannot be generated: %s", diags[0])
	}
	files := changes.Remove
	for _, f := range changes.Write {
		files = append(files, f.Path)
	}
	return files, changes.Close()
}
