package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// caseFolder makes the folder for failing cases, anew but in a job, which shares it with others.
func (s *session) caseFolder() error {
	if s.job != nil {
		s.env.cases = s.job.Cases
		return nil
	}
	if s.options.ReportDir == "" {
		return nil
	}
	s.env.cases = filepath.Join(s.options.ReportDir, "cases")
	if err := errors.Join(os.RemoveAll(s.env.cases), os.MkdirAll(s.env.cases, 0o755)); err != nil {
		return fmt.Errorf("folder for failing cases: %w", err)
	}
	return nil
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
	return LibraryPath(s.options.Project)
}

func (s *session) requireLibrary() error {
	path := s.library()
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: %s", ErrNotBuilt, path)
	}
	return nil
}
