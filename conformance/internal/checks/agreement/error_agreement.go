package agreement

import (
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/rule"
)

var errorAgreementCheck = check.Check{
	ID: "error-agreement", Group: check.GroupAcross, Generated: true,
	Doc:   "errors are those of the bare backend",
	Needs: check.NotBackend, Foreign: check.ComparedWithBackend, Run: checkAgreement,
}

// checkAgreement compares the errors of a caller with those of the bare export, without asking the rules: only the word
// for arrays differs.
func checkAgreement(t *check.T) error {
	backend := t.Env.Caller(calls.BackendName)
	if backend == nil {
		return check.Skip("the backend cannot be called")
	}
	program := rule.Compile(t.Op)
	call, changes, err := t.InvalidCalls(backend)
	if err != nil {
		return err
	}
	for _, f := range changes {
		if f.Phase >= invalid.PhaseCount && f.Phase != invalid.PhaseOverlap || f.Phase == invalid.PhaseDevice {
			continue // arrays that only one side can make
		}
		wrong := f.Apply(call)
		plain := wrong.Clone()
		plain.Out, plain.Scratch = nil, nil
		if invalid.ExpectedError(program, plain, t.Caller, t.Env.Device) == nil {
			continue // only the backend's output arrays make it wrong
		}
		if err := check.Proceed(expectSameError(t, backend, wrong, plain, f.Arg+" "+f.Kind)); err != nil {
			return err
		}
	}
	return nil
}

// expectSameError expects the caller's error for a call to be the backend's for its form of the same call.
func expectSameError(t *check.T, backend calls.Caller, wrong, plain *calls.Call, name string) error {
	want, err := t.CallWith(backend, wrong, name)
	if err := check.Proceed(err); err != nil {
		return err
	}
	got, err := t.Call(plain, name) // also where the backend cannot express the call: it must not end the process
	if err != nil || want == nil || want.Error == nil {
		return err
	}
	text := strings.ReplaceAll(want.Error.Text, backend.ArrayWord(), t.Caller.ArrayWord())
	t.ExpectError(plain, name, got, &rule.Error{Class: want.Error.Class, Text: text})
	return nil
}
