package check

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/opdef"
)

// ForeignCode says that what is under test was not generated: a library made by hand, or functions in Python. Checks judge
// its results and its behaviour; what opcast would have generated, such as words of errors, is not there to be judged.
type ForeignCode struct {
	// Library is its path; empty where functions are tested.
	Library string
	// Functions are targets by adaptor and op.
	Functions map[string]map[string]string
}

// Callables reports whether functions are tested, so that there is no library.
func (f *ForeignCode) Callables() bool { return f != nil && f.Functions != nil }

// Has reports whether there is something to test of an op through a caller.
func (f *ForeignCode) Has(op *opdef.Op, caller string) bool {
	if !f.Callables() {
		return true
	}
	if caller == calls.DefinitionName {
		for _, ops := range f.Functions {
			if ops[op.Name] != "" {
				return true
			}
		}
		return false
	}
	return f.Functions[caller][op.Name] != ""
}

// tolerates reports whether an invalid call is one that others may take: where Python and tvm-ffi take a bool for a
// number and a number for a bool, nobody is misled.
func (f *ForeignCode) tolerates(wrong invalid.Change) bool { return f != nil && wrong.Lenient }

// ExpectBitsOrReference expects a call whose arrays lie elsewhere to give the bits of the plain one. Of code that
// promises no such thing, it expects what the reference allows.
func (t *T) ExpectBitsOrReference(call *calls.Call, c *cases.Case, name string, got, want *calls.Result) error {
	if t.Env.Foreign == nil {
		t.ExpectSameBits(call, name, got, want)
		return nil
	}
	named := *c // the failure says what was unusual
	named.Name = name
	return t.ExpectReference(call, &named, got)
}
