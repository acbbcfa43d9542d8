package check

import (
	"context"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/language/opdef"
)

// T is what a check works with: an op, a caller and everything to compare with. Failures are collected; a returned error
// ends the check.
type T struct {
	// Ctx is that of the one spec for which a T lives.
	Ctx context.Context
	Env *Environment
	// Started is when the check began.
	Started time.Time
	Op      *opdef.Op
	Caller  calls.Caller
	// Check is the ID of the check that runs.
	Check string
	// kernel and dtypes are those of the present row.
	kernel, dtypes string
	Rows           []Row
	// fewerDTypes restricts each to choices that show every dtype and kernel at least once.
	fewerDTypes bool
	// Exploring is set while a check searches for a call: what it tries on the way is written to no reproducer and counted in
	// no histogram of errors.
	Exploring bool
	// LastTransformation is the transformation that was sent last in this row.
	LastTransformation *calls.Transformation
	// kernelsOnly restricts it to one choice for callers beside the bare backend, which shows what kernels do.
	kernelsOnly bool
	// eachKernel restricts it to choices that show every kernel at least once.
	eachKernel bool
}
