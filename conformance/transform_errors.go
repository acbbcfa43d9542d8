package conformance

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/rule"
)

// transformedSorts are the sorts of faults that transformations keep. They make arrays of their own:
// layouts and overlaps that calls refuse are lost on the way.
var transformedSorts = []int{
	phaseAttr, phaseInput + phaseOfDType, phaseInput + phaseOfRank, phaseInput + phaseOfDims, phaseRequire,
}

// checkTransformedErrors makes a wrong call of each sort under every transformation: each costs several compilations.
func checkTransformedErrors(t *T) error {
	call, faults, err := t.faults(t.Caller)
	if err != nil {
		return err
	}
	program := rule.Compile(t.Op)
	seen := map[int]bool{}
	for _, f := range faults {
		wrong := f.apply(call)
		if seen[f.sort()] || !slices.Contains(transformedSorts, f.sort()) || !transformable(wrong) ||
			expect(program, wrong, t.Caller, t.env.device) == nil {
			continue
		}
		seen[f.sort()] = true
		if err := proceed(t.wrongly(f, wrong)); err != nil {
			return err
		}
	}
	return nil
}

// transformable reports whether a wrong call has arrays, on the device under test, in all its places, and no output.
func transformable(call *Call) bool {
	for _, v := range call.tensors() {
		if v.Device != "" || v.ReadOnly {
			return false
		}
	}
	for i, v := range call.Inputs {
		if _, ok := v.(*Tensor); !ok && (v != nil || !call.Op.Inputs[i].Optional) {
			return false
		}
	}
	return len(call.Out) == 0 && call.Extra == nil
}

// keepsText are the transformations that put their own class around an error; the text is in theirs.
var keepsText = []string{"compile(fullgraph)", "export"}

// wrongly makes one wrong call.
func (t *T) wrongly(f fault, wrong *Call) error {
	var inputs []*Tensor
	for _, v := range wrong.Inputs {
		if x, ok := v.(*Tensor); ok {
			inputs = append(inputs, x)
		}
	}
	name := f.arg + " " + f.kind
	r, err := t.transform(name, &transformation{way: "errors", call: wrong, calls: []arrays{{inputs: inputs}}})
	if err != nil {
		return err
	}
	var facts struct{ Ways []string }
	if err := r.facts(&facts); err != nil {
		return err
	}
	for i, way := range facts.Ways {
		switch e := r.Calls[i].Error; {
		case e == nil:
			t.Fail(nil, name+", "+way, "returned a result, want %s: %s", f.want.Class, f.want.Text)
		case can(t.Caller, featureWrappedErrors) && slices.Contains(keepsText, way):
			if !strings.Contains(e.Text, f.want.Text) {
				t.Fail(nil, name+", "+way, "raised\n  %s: %s\nwant the text %s", e.Class, e.Text, f.want.Text)
			}
		case e.Class != f.want.Class || e.Text != f.want.Text:
			t.Fail(nil, name+", "+way, "raised\n  %s: %s\nwant\n  %s: %s", e.Class, e.Text, f.want.Class, f.want.Text)
		}
	}
	return nil
}
