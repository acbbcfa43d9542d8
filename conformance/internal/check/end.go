package check

import (
	"fmt"

	"github.com/opcast/opcast/internal/results/report"
)

// EarlyEnd ends a check early with a status of its own.
type EarlyEnd struct {
	status report.Status
	Reason string
}

// Error is the status with the reason.
func (s *EarlyEnd) Error() string { return string(s.status) + ": " + s.Reason }

// Skip ends a check that does not apply to the op.
func Skip(format string, args ...any) error {
	return &EarlyEnd{report.Skip, fmt.Sprintf(format, args...)}
}

// Unsupported ends a check that the framework or the machine cannot do.
func Unsupported(format string, args ...any) error {
	return &EarlyEnd{report.Unsupported, fmt.Sprintf(format, args...)}
}
