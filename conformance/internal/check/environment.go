package check

import (
	"context"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Environment is what all specs of a run share.
type Environment struct {
	Project *opdef.Project
	Device  string
	Oracle  oracle.Oracle
	// Samplers make the contents of ops whose authors wish to, by the names of the ops.
	Samplers map[string]cases.Sampler
	// Callers by name, in the order of the report; only those that can call.
	Callers []calls.Caller
	// Chain runs several frameworks in one process; nil where there are fewer than two.
	Chain calls.Chainer
	// StaleFiles returns the generated files that are out of date; nil when nobody can tell.
	StaleFiles func(context.Context) ([]string, error)
	// RandomCallsPerOp is the number of random calls for each op, RandomTallies counts what they did.
	RandomCallsPerOp int
	RandomTallies    Tallies
	// DebugCaller returns a caller in a process that looks at what arrays hold; nil where none can be started.
	DebugCaller func(ctx context.Context, name string) (calls.Caller, error)
	// ReproducerDir is the folder for failing cases; empty when none are wanted.
	ReproducerDir string
	// Seed makes the random inputs; zero is the fixed one. Errors are those that were measured; nil keeps none.
	Seed   uint64
	Errors *oracle.ErrorHistograms
	// Foreign says that what is under test was not generated; nil where it was.
	Foreign *ForeignCode
	// Sanitizer is the name of the one that watches the processes which call; empty for none.
	Sanitizer string
	// Replay has what scripts need to make a call again.
	Replay ReplayInfo
}

// Caller finds a caller by name; nil if it cannot call.
func (e *Environment) Caller(name string) calls.Caller {
	for _, c := range e.Callers {
		if c.Name() == name {
			return c
		}
	}
	return nil
}
