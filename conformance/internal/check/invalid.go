package check

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/rule"
)

// ValidCase is the valid call from which the invalid calls are made: the first choice of dtypes, every optional input given.
func (t *T) ValidCase() (*cases.Case, error) {
	all := cases.SupportedDTypes(t.Op, t.Env.Device)
	if len(all) == 0 {
		return nil, Skip("no kernel for device %s", t.Env.Device)
	}
	return t.SampledCase(cases.BasePlan(all[0]))
}

// InvalidCalls returns a valid call for a caller, and every change that makes it invalid.
func (t *T) InvalidCalls(caller calls.Caller) (*calls.Call, []invalid.Change, error) {
	c, err := t.ValidCase()
	if err != nil {
		return nil, nil, err
	}
	program := rule.Compile(t.Op)
	call, err := t.PlainCall(caller, c)
	if err != nil {
		return nil, nil, err
	}
	wrong, err := t.invalidChanges(c, program, caller)
	if err != nil {
		return nil, nil, err
	}
	var out []invalid.Change
	for _, f := range wrong {
		if f.Expected == nil {
			f.Expected = invalid.ExpectedError(program, f.Apply(call), caller, t.Env.Device)
		}
		if f.Expected != nil { // else the call is valid with the change, too
			out = append(out, f)
		}
	}
	// A call that writes nothing needs no kernel.
	if calls.IsBare(caller) && len(cases.OtherKernels(t.Op, t.Env.Device)) == 0 && !c.Empty() && !t.standsIn(caller) {
		out = append(out, invalid.WithoutKernelChange(t.Op, t.Env.Device))
	}
	out = slices.DeleteFunc(out, func(f invalid.Change) bool { return t.Env.Foreign.tolerates(f) })
	slices.SortStableFunc(out, func(a, b invalid.Change) int {
		if a.Phase != b.Phase {
			return a.Phase - b.Phase
		}
		return strings.Compare(a.Arg+a.Kind, b.Arg+b.Kind)
	})
	return call, out, nil
}

// standsIn says whether the reference would answer calls on the host: that is what Python's packages have where a collection has no
// kernels for the CPU.
func (t *T) standsIn(caller calls.Caller) bool {
	return t.Env.Device != "cpu" && caller.Name() != calls.NativeName && !slices.Contains(t.Env.Project.Manifest.Devices, "cpu")
}

// invalidChanges are the changes of a valid call that may make it invalid.
func (t *T) invalidChanges(c *cases.Case, program *rule.Program, caller calls.Caller) ([]invalid.Change, error) {
	wrong := slices.Concat(invalid.Arguments(c, caller, t.Env.Device), invalid.Sizes(c, program), invalid.Choices(c, program),
		invalid.Memory(c, caller))
	if OutputsGiven(t.Op, caller) == nil {
		outputs, err := invalid.OutputChanges(c, caller, t.Env.Device)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, outputs...)
	}
	scratch, err := invalid.Scratch(c, caller, t.Env.Device)
	return append(wrong, scratch...), err
}

// EachInvalidCall runs every invalid call of the op through the caller in every mode.
func (t *T) EachInvalidCall(body func(f invalid.Change, call *calls.Call, name string, result *calls.Result)) error {
	call, changes, err := t.InvalidCalls(t.Caller)
	if err != nil {
		return err
	}
	for _, mode := range calls.Modes(t.Caller) {
		err := ForEach(changes, func(f invalid.Change) error {
			wrong := f.Apply(call)
			wrong.Mode = mode
			name := f.Arg + " " + f.Kind + ", " + mode
			result, err := t.Call(wrong, name)
			if err != nil {
				return err
			}
			body(f, wrong, name, result)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ExpectError expects an error of the class with exactly the text.
func (t *T) ExpectError(call *calls.Call, name string, result *calls.Result, want *rule.Error) {
	switch {
	case result.Error == nil:
		t.Fail(call, name, "returned a result, want %s: %s", want.Class, want.Text)
	case t.Env.Foreign != nil: // that it raises is enough: the words are its author's
	case result.Error.Class != want.Class || result.Error.Text != want.Text:
		t.Fail(call, name, "raised\n  %s: %s\nwant\n  %s: %s", result.Error.Class, result.Error.Text, want.Class, want.Text)
	}
}

// OneInvalidCall is an invalid call, if possible with a wrong shape, and the error that it must raise; nil where there
// is none. A call that somebody else's function accepts does not serve: that it should be refused is what another
// check says.
func (t *T) OneInvalidCall() (*calls.Call, *rule.Error, error) {
	call, changes, err := t.InvalidCalls(t.Caller)
	if err != nil {
		return nil, nil, err
	}
	for _, wanted := range []func(invalid.Change) bool{
		func(f invalid.Change) bool { return f.Sort() == invalid.PhaseInput+invalid.PhaseOfDims },
		func(f invalid.Change) bool { return f.Expected.Class == "ValueError" },
		func(f invalid.Change) bool { return true },
	} {
		i := slices.IndexFunc(changes, func(f invalid.Change) bool { return !f.Alone && wanted(f) })
		if i < 0 {
			continue
		}
		wrong := changes[i].Apply(call)
		if t.Env.Foreign == nil {
			return wrong, changes[i].Expected, nil
		}
		result, err := t.CallAsIs(t.Caller, wrong, "an invalid call")
		if err := Proceed(err); err != nil {
			return nil, nil, err
		}
		if result != nil && result.Error != nil {
			return wrong, changes[i].Expected, nil
		}
	}
	return nil, nil, nil
}

// IsOpError reports whether an error is one that an op may raise: of a documented class, with the op's name.
func (t *T) IsOpError(e *calls.CallError) bool {
	if t.Env.Foreign != nil {
		return true // in the words of its author
	}
	return slices.Contains(invalid.ErrorClasses, e.Class) && strings.HasPrefix(e.Text, t.Op.Name+": ")
}
