package transforms

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/rule"
)

var transformedErrorsCheck = transformed.Check("transformed-errors", transformed.Transforms,
	"invalid calls raise their class and text under every transformation that keeps them", checkTransformedErrors)

// transformedKinds are the sorts of changes that transformations keep. They make arrays of their own:
// layouts and overlaps that calls refuse are lost on the way.
var transformedKinds = []int{
	invalid.PhaseAttr, invalid.PhaseInput + invalid.PhaseOfDType, invalid.PhaseInput + invalid.PhaseOfRank, invalid.PhaseInput + invalid.PhaseOfDims, invalid.PhaseRequire,
}

// checkTransformedErrors makes an invalid call of each sort under every transformation: each costs several compilations.
func checkTransformedErrors(t *check.T) error {
	call, changes, err := t.InvalidCalls(t.Caller)
	if err != nil {
		return err
	}
	program := rule.Compile(t.Op)
	seen := map[int]bool{}
	for _, f := range changes {
		wrong := f.Apply(call)
		if seen[f.Sort()] || !slices.Contains(transformedKinds, f.Sort()) || !transformable(wrong) ||
			invalid.ExpectedError(program, wrong, t.Caller, t.Env.Device) == nil {
			continue
		}
		seen[f.Sort()] = true
		if err := check.Proceed(callInvalid(t, f, wrong)); err != nil {
			return err
		}
	}
	return nil
}

// transformable reports whether an invalid call has arrays, on the device under test, in all its places, and no output.
func transformable(call *calls.Call) bool {
	for _, v := range call.Tensors() {
		if v.Device != "" || v.ReadOnly {
			return false
		}
	}
	for i, v := range call.Inputs {
		if _, ok := v.(*calls.Tensor); !ok && (v != nil || !call.Op.Inputs[i].Optional) {
			return false
		}
	}
	return len(call.Out) == 0 && call.Extra == nil
}

// keepsText are the transformations that put their own class around an error; the text is in theirs.
var keepsText = []string{"compile(fullgraph)", "export"}

// callInvalid makes one invalid call.
func callInvalid(t *check.T, f invalid.Change, wrong *calls.Call) error {
	var inputs []*calls.Tensor
	for _, v := range wrong.Inputs {
		if x, ok := v.(*calls.Tensor); ok {
			inputs = append(inputs, x)
		}
	}
	name := f.Arg + " " + f.Kind
	r, err := transformed.Send(t, name, &calls.Transformation{Method: "errors", Call: wrong, Calls: []calls.Arrays{{Inputs: inputs}}}, nil)
	if err != nil {
		return err
	}
	transformed.EachWay(t, name, r, func(name string, c *calls.TransformedCall) {
		switch e := c.Error; {
		case e == nil:
			t.Fail(nil, name, "returned a result, want %s: %s", f.Expected.Class, f.Expected.Text)
		case calls.HasFeature(t.Caller, calls.FeatureWrappedErrors) && slices.Contains(keepsText, c.Way):
			if !strings.Contains(e.Text, f.Expected.Text) {
				t.Fail(nil, name, "raised\n  %s: %s\nwant the text %s", e.Class, e.Text, f.Expected.Text)
			}
		case e.Class != f.Expected.Class || e.Text != f.Expected.Text:
			t.Fail(nil, name, "raised\n  %s: %s\nwant\n  %s: %s", e.Class, e.Text, f.Expected.Class, f.Expected.Text)
		}
	})
	return nil
}
