package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/worker"
)

// connect lists who can call, and prepares the process that has several frameworks.
func (s *Session) connect() error {
	var frameworks []string
	for _, r := range s.Processes {
		if r.Missing != "" {
			if slices.Contains(s.Options.Adaptors, r.CallerName) || r.CallerName == calls.BackendName || s.Env.Foreign.Callables() {
				return fmt.Errorf("%s %w: %s", r.CallerName, ErrMissing, r.Missing)
			}
			s.Printer.Line("note: %s: %s", r.CallerName, r.Missing)
			continue
		}
		s.Env.Callers = append(s.Env.Callers, r)
		if err := s.lacks(r); err != nil {
			return err
		}
		if !calls.IsBare(r) {
			frameworks = append(frameworks, r.CallerName)
		}
	}
	if len(frameworks) < 2 || s.Env.Foreign != nil {
		return nil
	}
	config := s.workerConfig("chain", "")
	config.Adaptors = frameworks
	chain, err := s.workerWith(config)
	s.Env.Chain = &worker.ChainProcess{Worker: chain, Adaptors: frameworks} // starts with its first call
	return err
}

// lacks is an error if the library that a worker found has no kernels for the device under test, or if that is not emulated where it
// should be: whatever would be tested then, it is not what was asked for.
func (s *Session) lacks(r *worker.Process) error {
	kind := cases.KindOf(s.Env.Device)
	if kind == "cpu" || r.CallerName != calls.BackendName || s.Env.Foreign != nil {
		return nil
	}
	if built := r.Info().Built; !slices.Contains(built, kind) {
		return fmt.Errorf("%s %w: the library has kernels for %s only\n  run: opcast build --device %[1]s", kind, ErrMissing, strings.Join(built, " and "))
	}
	if s.Options.Driver != "" && !strings.HasPrefix(r.Hardware, "emulated ") {
		return fmt.Errorf("the emulated device %w: there is no driver in %s", ErrMissing, s.Options.Driver)
	}
	return nil
}
