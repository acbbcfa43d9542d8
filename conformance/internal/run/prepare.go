package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/safefile"
)

// reproducerFolder makes the folder for failing cases, without those of earlier runs but in a job, which shares it
// with others. The user may have named any folder: whatever else lies in it stays.
func reproducerFolder(o Options, j *job) (string, error) {
	switch {
	case j != nil:
		return j.Cases, nil
	case o.ReportDir == "":
		return "", nil
	}
	const name = "cases"
	dir := filepath.Join(o.ReportDir, name)
	err := os.MkdirAll(o.ReportDir, 0o755)
	if err == nil {
		err = safefile.In(o.ReportDir, func(root *os.Root) error {
			if err := safefile.MkdirAll(root, name); err != nil {
				return err
			}
			entries, err := fs.ReadDir(root.FS(), name)
			for _, e := range entries {
				if e.IsDir() && holdsWorker(filepath.Join(dir, e.Name())) || !e.IsDir() && isReproducer(e.Name(), o.Project.Ops) {
					err = errors.Join(err, safefile.RemoveAll(root, name+"/"+e.Name()))
				}
			}
			return err
		})
	}
	if err != nil {
		return "", fmt.Errorf("folder for failing cases: %w", err)
	}
	return dir, nil
}

// isReproducer reports whether a file has a name that the suite gives to what repeats a failing call.
func isReproducer(name string, ops []*opdef.Op) bool {
	if !slices.Contains([]string{".py", ".json", ".bin", ".safetensors"}, filepath.Ext(name)) {
		return false
	}
	return slices.ContainsFunc(ops, func(op *opdef.Op) bool {
		return slices.ContainsFunc(append(framework.Names(), calls.BackendName, calls.NativeName, calls.OpCallName), func(caller string) bool {
			return strings.HasPrefix(name, check.CaseName(op.Name, caller, ""))
		})
	})
}

// holdsWorker reports whether a folder is one that the suite puts beside scripts.
func holdsWorker(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, worker.Package, "replay.py"))
	return err == nil && strings.HasPrefix(filepath.Base(dir), check.WorkerFolder)
}

// library is the path of the library under test; empty where there is none.
func library(o Options, f *check.ForeignCode) string {
	switch {
	case f.Callables():
		return ""
	case f != nil:
		return f.Library
	}
	return o.Project.LibraryPath()
}

// prepareLibrary brings the library up to date, if the options say how, and looks whether it exists.
func prepareLibrary(ctx context.Context, o Options, f *check.ForeignCode) error {
	if o.Build != nil && o.Job == "" { // the process that started a job has built
		if err := o.Build(ctx); err != nil {
			return err
		}
	}
	path := library(o, f)
	if path == "" {
		return nil
	}
	switch info, err := os.Stat(path); {
	case err != nil && f != nil: // nothing that opcast could build
		return fmt.Errorf("library %w: %w", ErrMissing, err)
	case err != nil:
		return fmt.Errorf("%w: %s", ErrNotBuilt, path)
	case info.IsDir():
		return fmt.Errorf("library %w: %s is a folder", ErrMissing, path)
	}
	return nil
}
