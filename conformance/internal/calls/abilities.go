package calls

import "slices"

// Abilities are what a framework can do, as its worker says in its greeting. Checks ask for them and for no framework by
// name, so that another framework needs no change here.
type Abilities struct {
	// Writes says that arrays can be written: an overwritten input changes in place. Out says that the functions have out=.
	Writes, Out bool
	// Modes are the ways to call: "eager", and "jit" where a call can be compiled.
	Modes []string
	// Elsewhere is a device on which arrays can be made beside the one under test; empty if there is none.
	Elsewhere string
	// Features are what only some frameworks have; FeatureTransforms stands for the whole group.
	Features []string
	// LeakRate is how many bytes a call may leave behind in caches of the framework.
	LeakRate int64 `json:"leak_rate"`
	// Script says how the script that repeats a call makes an array; nil where none can be written.
	Script *ScriptSyntax
}

// The features that decide whether a group of checks applies, or how one of them asks. The others are named where they are
// needed.
const (
	FeatureTransforms     = "transformations"
	FeatureShapesOnly     = "shapes without arrays"
	FeatureSymbolicExport = "export with symbolic sizes"
	FeatureWrappedErrors  = "errors wrapped by transformations"
	FeatureQuotedErrors   = "errors quoted by backward passes"
)

// Informed is a caller whose worker has told what it is and what it can do.
type Informed interface{ Info() WorkerInfo }

// AbilitiesOf asks the caller's worker. Callers without one write to any memory, and call in one way.
func AbilitiesOf(caller Caller) Abilities {
	if teller, ok := caller.(Informed); ok {
		if told := teller.Info().Abilities; told != nil {
			return *told
		}
	}
	return Abilities{Writes: true, Out: true, Modes: []string{"eager"}, LeakRate: 2}
}

// HasFeature reports whether a framework has a feature.
func HasFeature(caller Caller, feature string) bool {
	return slices.Contains(AbilitiesOf(caller).Features, feature)
}

// WritesMemory reports whether the op writes into memory that the user has: not where arrays never change.
func WritesMemory(caller Caller) bool { return AbilitiesOf(caller).Writes }

// String describes a parameter.
func (p Parameter) String() string {
	s := p.Name
	if p.Keyword {
		s = "keyword " + s
	}
	if p.Required {
		return "required " + s
	}
	return s
}

// ScriptSyntax is how scripts make arrays in a framework: the lines that import it, the expressions for an array and
// for a dtype.
type ScriptSyntax struct{ Imports, Array, DType string }
