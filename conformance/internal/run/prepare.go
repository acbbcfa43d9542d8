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
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/safefile"
)

// reproducerFolder makes the folder for failing cases, without those of earlier runs but in a job, which shares it
// with others. The user may have named any folder: whatever else lies in it stays.
func (s *Session) reproducerFolder() error {
	if s.job != nil {
		s.Env.ReproducerDir = s.job.Cases
		return nil
	}
	if s.Options.ReportDir == "" {
		return nil
	}
	s.Env.ReproducerDir = filepath.Join(s.Options.ReportDir, "cases")
	err := os.MkdirAll(s.Options.ReportDir, 0o755)
	if err == nil {
		err = safefile.In(s.Options.ReportDir, s.removeReproducers)
	}
	if err != nil {
		return fmt.Errorf("folder for failing cases: %w", err)
	}
	return nil
}

// removeReproducers empties the folder for failing cases in that of the report.
func (s *Session) removeReproducers(root *os.Root) error {
	const folder = "cases"
	if err := safefile.MkdirAll(root, folder); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.FS(), folder)
	for _, e := range entries {
		if e.IsDir() && holdsWorker(filepath.Join(s.Env.ReproducerDir, e.Name())) || !e.IsDir() && isReproducer(e.Name(), s.Options.Project.Ops) {
			err = errors.Join(err, safefile.RemoveAll(root, folder+"/"+e.Name()))
		}
	}
	return err
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
	_, err := os.Stat(filepath.Join(dir, "replay.py"))
	return err == nil && strings.HasPrefix(filepath.Base(dir), check.WorkerFolder)
}

// choose lists what runs, from the definitions, the callers and the options.
func (s *Session) choose() error {
	callers, missing := []calls.Caller{calls.Definition{}}, map[string]string{}
	for _, r := range s.tested() {
		callers = append(callers, r)
		missing[r.CallerName] = r.Missing
	}
	var err error
	s.cells, err = s.choice.cells(s.Ops, callers, s.Env.Foreign)
	for i := range s.cells {
		s.cells[i].missing = missing[s.cells[i].caller.Name()]
	}
	return err
}

// library is the path of the library under test; empty where there is none.
func (s *Session) library() string {
	switch f := s.Env.Foreign; {
	case f.Callables():
		return ""
	case f != nil:
		return f.Library
	}
	return s.Options.Project.LibraryPath()
}

// prepareLibrary brings the library up to date, if the options say how, and looks whether it exists.
func (s *Session) prepareLibrary(ctx context.Context) error {
	if s.Options.Build != nil && s.job == nil { // the process that started a job has built
		if err := s.Options.Build(ctx); err != nil {
			return err
		}
	}
	path := s.library()
	if path == "" {
		return nil
	}
	switch info, err := os.Stat(path); {
	case err != nil && s.Env.Foreign != nil: // nothing that opcast could build
		return fmt.Errorf("library %w: %w", ErrMissing, err)
	case err != nil:
		return fmt.Errorf("%w: %s", ErrNotBuilt, path)
	case info.IsDir():
		return fmt.Errorf("library %w: %s is a folder", ErrMissing, path)
	}
	return nil
}
