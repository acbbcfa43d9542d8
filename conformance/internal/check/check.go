// Package check is what the checks of the suite are made of: the type Check, the T with which a check calls ops and expects
// something of the results, and the rows in which it tells what held.
//
// A check is one value of type Check. It stands in one file of a package below conformance/internal/checks, beside its body.
package check

import (
	"context"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/language/opdef"
)

// The groups of checks.
const (
	GroupValues   = "Values"
	GroupShapes   = "Shapes"
	GroupDTypes   = "Dtypes"
	GroupStrides  = "Strides"
	GroupZero     = "Zero size"
	GroupAliasing = "Aliasing"
	GroupErrors   = "Errors"
	GroupAcross   = "Across adaptors"
	// What surrounds a call: threads, children, memory.
	GroupEndurance = "Endurance"
	// What people do with ops beside calling them.
	GroupTransform = "Transformations"
)

// The profiles of checks: those of fast show most mistakes of a kernel in seconds; those of core belong to every run that
// proves something; those of extended cost more than every run can bear, or need more than every machine has. A run has the
// checks of its profile and of the smaller ones.
const (
	ProfileFast     = "fast"
	ProfileCore     = "core"
	ProfileExtended = "extended"
)

// Through says by which callers a check runs.
type Through int

const (
	// ThroughAll stands for every caller: the adaptors, and the library's own callers.
	ThroughAll Through = iota
	// ThroughAdaptors leaves out the callers that reach the same exports as the bare backend: what they would show it
	// has shown.
	ThroughAdaptors
	// ThroughFunctions stands for Python functions that are tested in the place of a library.
	ThroughFunctions
	// ThroughDefinition stands for no caller: the check runs once per op.
	ThroughDefinition
)

// Foreign says what a check means for ops that opcast did not generate: a library that was made by hand, or Python
// functions that stand for ops. Every check has to say it, since one that judges too much blames authors for what they
// never promised.
type Foreign struct {
	// Judged says that the check applies, except where a reason is given.
	Judged bool
	// Library and Functions are the reasons why it cannot judge the one or the other.
	Library, Functions string
}

// Judges is said of checks of results and behaviour, which anybody's ops can be held to.
var Judges = Foreign{Judged: true}

// Reasons that several checks share.
var (
	// AboutGenerated is the reason of checks about what opcast promises and others do not.
	AboutGenerated = Foreign{
		Library:   "about what opcast generates; this library is someone else's",
		Functions: "about what opcast generates; this is a function of someone else",
	}
	// TransformsGenerated is the reason of checks that compute what transformations must give from calls of the bare backend.
	TransformsGenerated = Foreign{
		Library:   AboutGenerated.Library,
		Functions: "what transformations must give is computed from calls of the bare backend, and there is none",
	}
	// ComparedWithBackend is the reason of checks that compare a caller with the bare backend.
	ComparedWithBackend = Foreign{
		Library:   AboutGenerated.Library,
		Functions: "there is no bare backend to compare with",
	}
)

// Check is one property of every op through every caller. A check is one value of this type, which stands beside its body.
type Check struct {
	// ID names the check in reports and on the command line, Group the part of the report that it belongs to.
	ID, Group string
	// Doc says what must hold.
	Doc string
	// Profile is the smallest profile that has the check; empty stands for core.
	Profile string
	// Through says by which callers it runs.
	Through Through
	// HostOnly says why it cannot run on another device than the host; empty if it can.
	HostOnly string
	// WithoutKernel says that it runs for ops that have no kernel for the device, too.
	WithoutKernel bool
	// Generated says that what the check shows through other callers than the bare backend follows from what is generated of
	// the definition: it need not be tried with every op of a collection.
	Generated bool
	// Needs returns why the check does not apply to an op or caller, made by Skip or Unsupported; nil if it does.
	Needs func(op *opdef.Op, caller calls.Caller) error
	// Foreign says what the check means for ops that opcast did not generate.
	Foreign Foreign
	// Ahead begins, beside checks that run before, what Run would have to wait for, such as the start of a process; nil where
	// there is nothing of the kind. It may be called before Run, at most once for each op and caller.
	Ahead func(ctx context.Context, env *Environment, op *opdef.Op, caller calls.Caller)
	// Run is the body. It collects failures in its argument; an error that it returns ends the check.
	Run func(t *T) error
}

// RunsThrough reports whether the check runs by a caller; functions says that it calls functions in the place of a library.
func (c *Check) RunsThrough(caller string, functions bool) bool {
	switch c.Through {
	case ThroughDefinition:
		return caller == calls.DefinitionName
	case ThroughFunctions:
		return functions && caller != calls.DefinitionName
	case ThroughAdaptors:
		return caller != calls.DefinitionName && caller != calls.NativeName && caller != calls.OpCallName
	}
	return caller != calls.DefinitionName
}

// Version is the version of the suite in reports: results of different versions are not comparable check by check.
const Version = "4"
