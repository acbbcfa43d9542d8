package run

import (
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/progress"
)

// began says which spec runs now. A job tells the process that has the terminal.
func (s *Session) began(c cell, current *check.Check) {
	spec := progress.SpecName(c.op.Name, c.caller.Name(), current.ID)
	if s.job != nil {
		s.job.send(jobMessage{Spec: spec})
	}
	s.Printer.Running(spec)
}

// startProgress draws the live line from now on, where there is a terminal. Elsewhere, it tells which specs take long.
func (s *Session) startProgress() {
	switch {
	case s.job != nil: // the process that started it does
	case s.Options.Progress:
		s.Printer.Start(s.specCount(), s.started)
	default:
		s.Printer.Watch()
	}
}

// specCount is the number of specs of the run.
func (s *Session) specCount() int {
	n := 0
	for _, c := range s.cells {
		n += len(c.checks)
	}
	return n
}
