package conformance

import (
	"slices"

	"github.com/opcast/opcast/internal/opdef"
)

// abilities are what a framework can do, as its worker says in its greeting. Checks ask for them and for no framework by
// name, so that another framework needs no change here.
type abilities struct {
	// Writes says that arrays can be written: an overwritten input changes in place. Out says that the functions have out=.
	Writes, Out bool
	// Modes are the ways to call: "eager", and "jit" where a call can be compiled.
	Modes []string
	// Elsewhere is a device on which arrays can be made beside the one under test; empty if there is none.
	Elsewhere string
	// Features are what only some frameworks have; featureTransforms stands for the whole group.
	Features []string
	// LeakRate is how many bytes a call may leave behind in caches of the framework.
	LeakRate int64 `json:"leak_rate"`
	// Script says how the script that repeats a call makes an array; nil where none can be written.
	Script *dialect
}

// The features that decide whether a group of checks applies, or how one of them asks. The others are named where they are
// needed.
const (
	featureTransforms     = "transformations"
	featureShapesOnly     = "shapes without arrays"
	featureSymbolicExport = "export with symbolic sizes"
	featureWrappedErrors  = "errors wrapped by transformations"
)

// abilitiesOf asks the caller's worker. Callers without one write to any memory, and call in one way.
func abilitiesOf(caller Caller) abilities {
	if teller, ok := caller.(interface{ tells() greeting }); ok {
		if told := teller.tells().Abilities; told != nil {
			return *told
		}
	}
	return abilities{Writes: true, Out: true, Modes: []string{"eager"}, LeakRate: 2}
}

// can reports whether a framework has a feature.
func can(caller Caller, feature string) bool {
	return slices.Contains(abilitiesOf(caller).Features, feature)
}

// offers holds where a framework that transforms has a feature.
func offers(feature string, also func(*opdef.Op, Caller) error) func(*opdef.Op, Caller) error {
	return func(op *opdef.Op, caller Caller) error {
		if err := transforms(op, caller); err != nil {
			return err
		}
		if !can(caller, feature) {
			return unsupported("%s has no %s", caller.Name(), feature)
		}
		return also(op, caller)
	}
}
