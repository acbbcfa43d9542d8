package run

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/opcast/opcast/internal/results/report"
)

// ErrInterrupted means that the context ended before all checks had run. The report has what was complete by then.
var ErrInterrupted = errors.New("interrupted")

// interrupt notes that the run was stopped, if it was, and how many checks did not run. What was cut off has no result:
// it is neither a failure nor a hole.
func (s *Session) interrupt(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	missing := len(missingResults(s.cells, s.results))
	if missing == 0 {
		return false // it was stopped when everything had run
	}
	s.interrupted = &report.Interruption{Reason: context.Cause(ctx).Error(), NotRun: missing}
	return true
}

// ending is the error of a run that was interrupted.
func (s *Session) ending() error {
	if s.interrupted == nil {
		return nil
	}
	return ErrInterrupted
}

// pend has an interrupted report keep what failed in the report that it takes the place of, as far as the run was to check
// that again. A complete run would have forgotten no less.
func (s *Session) pend(r *report.Report) {
	old, err := report.Read(filepath.Join(s.Options.ReportDir, report.File))
	if err != nil || s.job != nil {
		return // there is nothing to keep, or the process that started this one does
	}
	planned := map[report.Spec]bool{}
	for _, c := range s.cells {
		for i := range c.checks {
			planned[report.Spec{Op: c.op.Name, Adaptor: c.caller.Name(), Check: c.checks[i].ID}] = true
		}
	}
	r.Interrupted.Pend(r, old, func(s report.Spec) bool { return planned[s] })
}

// Kill ends all processes at once, where nobody wants to wait until they have tidied up.
func (s *Session) Kill() {
	var wait sync.WaitGroup
	for _, w := range s.workers {
		wait.Go(w.Kill)
	}
	wait.Wait()
}
