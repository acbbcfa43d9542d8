package app

import (
	"errors"
	"fmt"

	"github.com/opcast/opcast/internal/build/pyenv"
)

// Exit codes; 0 is success.
const (
	ExitFindings = 1 // mistakes in files, failed specs
	ExitUsage    = 2
	ExitMachine  = 3 // a compiler, Python package or device lacks
)

// ExitError ends the program with Code. A nil Err says that everything has been printed already.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of Err.
func (e ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e ExitError) Unwrap() error { return e.Err }

// Usage is the error of a command line that means nothing.
func Usage(format string, args ...any) error {
	return ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// MachineError gives errors about what the machine lacks their exit code.
func MachineError(err error) error {
	if missing := (*pyenv.MissingError)(nil); errors.As(err, &missing) {
		return ExitError{Code: ExitMachine, Err: err}
	}
	return err
}
