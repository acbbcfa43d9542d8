package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/framework"
	"github.com/opcast/opcast/internal/opdef"
)

// caseFolder makes the folder for failing cases, without those of earlier runs but in a job, which shares it with others. The
// user may have named any folder: whatever else lies in it stays.
func (s *session) caseFolder() error {
	if s.job != nil {
		s.env.cases = s.job.Cases
		return nil
	}
	if s.options.ReportDir == "" {
		return nil
	}
	s.env.cases = filepath.Join(s.options.ReportDir, "cases")
	err := os.MkdirAll(s.env.cases, 0o755)
	entries, unread := os.ReadDir(s.env.cases)
	for _, e := range entries {
		if path := filepath.Join(s.env.cases, e.Name()); e.IsDir() && holdsWorker(path) || !e.IsDir() && isCase(e.Name(), s.options.Project.Ops) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	if err = errors.Join(err, unread); err != nil {
		return fmt.Errorf("folder for failing cases: %w", err)
	}
	return nil
}

// isCase reports whether a file has a name that the suite gives to what repeats a failing call.
func isCase(name string, ops []*opdef.Op) bool {
	if !slices.Contains([]string{".py", ".json", ".bin", ".safetensors"}, filepath.Ext(name)) {
		return false
	}
	return slices.ContainsFunc(ops, func(op *opdef.Op) bool {
		return slices.ContainsFunc(append(framework.Names(), backendName, nativeName, opCallName), func(caller string) bool {
			return strings.HasPrefix(name, caseName(op.Name, caller, ""))
		})
	})
}

// holdsWorker reports whether a folder is one that the suite puts beside scripts.
func holdsWorker(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "replay.py"))
	return err == nil && strings.HasPrefix(filepath.Base(dir), workerFolder)
}

// choose lists what runs, from the definitions, the callers and the options.
func (s *session) choose() error {
	callers, missing := []Caller{definition{}}, map[string]string{}
	for _, r := range s.tested() {
		callers = append(callers, r)
		missing[r.name] = r.Missing
	}
	var err error
	s.cells, err = s.choice.cells(s.ops, callers, s.env.foreign)
	for i := range s.cells {
		s.cells[i].missing = missing[s.cells[i].caller.Name()]
	}
	return err
}

// library is the path of the library under test; empty where there is none.
func (s *session) library() string {
	switch f := s.env.foreign; {
	case f.callables():
		return ""
	case f != nil:
		return f.library
	}
	return s.options.Project.LibraryPath()
}

func (s *session) requireLibrary() error {
	path := s.library()
	if path == "" {
		return nil
	}
	switch info, err := os.Stat(path); {
	case err != nil && s.env.foreign != nil: // nothing that opcast could build
		return fmt.Errorf("library %w: %w", ErrMissing, err)
	case err != nil:
		return fmt.Errorf("%w: %s", ErrNotBuilt, path)
	case info.IsDir():
		return fmt.Errorf("library %w: %s is a folder", ErrMissing, path)
	}
	return nil
}
