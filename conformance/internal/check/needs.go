package check

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
)

// HasContents holds where an input declares the range of its elements.
func HasContents(op *opdef.Op, _ calls.Caller) error {
	ranged := func(a opdef.Arg) bool { return a.Min != nil || a.Max != nil }
	return SkipUnless(slices.ContainsFunc(op.Inputs, ranged), "no input has a range")
}

// ByNumber holds for the caller that names an op by its number.
func ByNumber(_ *opdef.Op, caller calls.Caller) error {
	return SkipUnless(caller.Name() == calls.OpCallName, "about calls of an op by its number")
}

// IsBackend holds for the bare backend.
func IsBackend(_ *opdef.Op, caller calls.Caller) error {
	return SkipUnless(caller.Name() == calls.BackendName, "shown by the bare backend")
}

// SkipUnless skips for a reason unless a condition holds.
func SkipUnless(ok bool, reason string) error {
	if ok {
		return nil
	}
	return Skip("%s", reason)
}

// When holds for ops of which a condition holds.
func When(ok func(*opdef.Op) bool, reason string) func(*opdef.Op, calls.Caller) error {
	return func(op *opdef.Op, _ calls.Caller) error { return SkipUnless(ok(op), reason) }
}

// OutputsGiven holds where the caller of an op may provide the memory of the results.
func OutputsGiven(op *opdef.Op, caller calls.Caller) error {
	if len(op.Outputs) == 0 {
		return Skip("the op has no outputs")
	}
	if op.InstanceOf != nil && !calls.IsBare(caller) {
		return Skip("an op of lists has no out=")
	}
	if cases.OverwritesInputs(op) && !calls.IsBare(caller) {
		return Skip("an op that mutates its inputs has no out=")
	}
	switch can := calls.AbilitiesOf(caller); {
	case !can.Writes:
		return Unsupported("%s is immutable: there is no out=", caller.ArrayWord())
	case !can.Out:
		return Unsupported("the functions of %s have no out=", caller.Name())
	}
	return nil
}

// TakesKeywords holds for callers whose functions take arguments by keyword.
func TakesKeywords(_ *opdef.Op, caller calls.Caller) error {
	if calls.IsBare(caller) {
		return Unsupported("an export takes its arguments by position")
	}
	return nil
}

// NotBackend holds for callers other than the library's own.
func NotBackend(_ *opdef.Op, caller calls.Caller) error {
	if calls.IsBare(caller) {
		return Skip("the other callers are compared with this one")
	}
	return nil
}
