// Package conformance proves, op by op and adaptor by adaptor, that a collection does what its definitions say.
//
// The suite is made from the definitions: it knows no op by name, so it serves any project. Go makes the inputs, keeps one
// long-lived Python process per framework, and compares bytes itself: no framework judges itself. The oracle is the
// definition's reference in float64.
//
// This package is what programs use. Its parts are below internal: run plans, runs and publishes; checks has the checks by subject.
package conformance

import (
	"context"
	"io"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/mutants"
	"github.com/opcast/opcast/conformance/internal/native"
	"github.com/opcast/opcast/conformance/internal/run"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/results/report"
)

// Names of callers that need no framework: the bare backend, the same called from Go, and op_call.
const (
	BackendName = calls.BackendName
	NativeName  = calls.NativeName
	OpCallName  = calls.OpCallName
)

// ProfileFast is the smallest profile of checks.
const ProfileFast = check.ProfileFast

// CallLimit is how long a plain call may take, if the options say nothing else.
const CallLimit = worker.CallLimit

// Options are all that a run is told.
type Options = run.Options

// Subject is what is tested, and where.
type Subject = run.Subject

// Scope is which specs run.
type Scope = run.Scope

// Effort is how they run: with which programs, how often and how long.
type Effort = run.Effort

// Output is what is said of them, and where.
type Output = run.Output

// Callable is a Python function that does what an op says.
type Callable = run.Callable

// CompareOptions say which functions to compare with which op.
type CompareOptions = run.CompareOptions

// MutantOptions say which mutants to make, and what to run them with.
type MutantOptions = mutants.Options

// Why a run did not begin, or did not end.
var (
	// ErrNotBuilt means that the library under test does not exist.
	ErrNotBuilt = run.ErrNotBuilt
	// ErrUnknown means that the options name an op or adaptor that the project does not have.
	ErrUnknown = run.ErrUnknown
	// ErrUsage means that the options choose nothing.
	ErrUsage = run.ErrUsage
	// ErrInput means that a file which the options name cannot be used.
	ErrInput = run.ErrInput
	// ErrUnwritten means that the report could not be written.
	ErrUnwritten = run.ErrUnwritten
	// ErrMissing means that an adaptor which the options name cannot be used on this machine.
	ErrMissing = run.ErrMissing
	// ErrNothing means that nothing had to run.
	ErrNothing = run.ErrNothing
	// ErrInterrupted means that the context ended before all had run.
	ErrInterrupted = run.ErrInterrupted
	// ErrSurvived means that the suite did not notice a mutant.
	ErrSurvived = mutants.ErrSurvived
)

// Run tests the collection of a project. The summary counts results; an error means that the suite could not run, or was
// interrupted. Ginkgo allows one run per process.
func Run(ctx context.Context, o Options) (report.Summary, error) { return run.Run(ctx, o) }

// Compare holds functions of frameworks against the ops of a project.
func Compare(ctx context.Context, o CompareOptions) (report.Summary, error) {
	return run.Compare(ctx, o)
}

// Mutants plants errors into copies of a project and returns which of them the suite notices.
func Mutants(ctx context.Context, o MutantOptions) ([]report.Mutant, error) {
	return mutants.Run(ctx, o)
}

// CopyProject copies what a project is built from.
func CopyProject(from, to string) error { return mutants.CopyProject(from, to) }

// ServeNative answers the suite's calls from Go, in a process of its own.
func ServeNative(config string, in io.Reader, out io.Writer) error {
	return native.Serve(config, in, out)
}
