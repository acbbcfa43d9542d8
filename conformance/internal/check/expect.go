package check

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/results/report"
)

// EachRow runs a body for every choice of dtypes and every kernel of the device that covers it, one row each. In checks that
// cover choices, adaptors show the kernels in turn, one for each choice: what kernels do, the library's own callers show.
func (t *T) EachRow(body func(d cases.DTypes) error) error {
	choices := cases.SupportedDTypes(t.Op, t.Env.Device)
	switch {
	case t.eachKernel:
		choices = cases.CoveringKernels(t.Op, t.Env.Device)
	case t.fewerDTypes:
		choices = cases.CoveringDTypes(t.Op, t.Env.Device)
	}
	if t.kernelsOnly && !calls.IsBare(t.Caller) {
		choices = choices[:min(len(choices), 1)]
	}
	for i, d := range choices {
		for _, kernel := range t.rowKernels(d, i) {
			t.StartRow(kernel, d.String())
			if t.excluded(d) {
				t.CurrentRow().Unsupported = "conditions exclude all calls of these dtypes that the kernel takes"
			} else if err := Proceed(body(d)); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowKernels are the kernels that have rows of their own for a choice of dtypes, which is number i of those that are tried.
// A kernel with parameters has one as calls get it. The library's own callers also ask for its parameters: all in turn where
// they try all dtypes, else one.
func (t *T) rowKernels(d cases.DTypes, i int) []string {
	kernels := cases.KernelsFor(t.Op, t.Env.Device, d)
	switch {
	case t.Env.Foreign != nil:
		return []string{""} // what runs is for its author to choose
	case !calls.IsBare(t.Caller) && t.fewerDTypes:
		return kernels[i%len(kernels):][:1]
	case !calls.IsBare(t.Caller):
		return kernels
	}
	turn := 0 // in which checks try choices, also those of an op with one choice of dtypes
	for _, letter := range []byte(t.Check) {
		turn += int(letter)
	}
	for _, k := range cases.KernelsOn(t.Op, t.Env.Device) {
		choices := k.Choices()
		if !cases.AcceptsDTypes(&k, d) || len(choices) == 0 {
			continue
		}
		if t.fewerDTypes {
			choices = choices[(i+turn)%len(choices):][:1]
		}
		for _, choice := range choices {
			kernels = append(kernels, k.WithParams(choice))
		}
	}
	return kernels
}

// EachCase runs a body for every plan of every choice of dtypes.
func (t *T) EachCase(plans func(d cases.DTypes) []cases.Plan, body func(c *cases.Case) error) error {
	return t.EachRow(func(d cases.DTypes) error {
		planned := plans(d)
		made := t.CasesOf(planned)
		if len(planned) > 0 && len(made) == 0 {
			return t.noCases(d, planned[0])
		}
		return ForEach(made, body)
	})
}

// ExpectCaseValues calls a case and compares with the reference.
func (t *T) ExpectCaseValues(c *cases.Case) error {
	call, result, err := t.RunCase(t.Caller, c)
	if err != nil {
		return err
	}
	if !t.ExpectMetadata(call, c.Name, c, result) {
		return nil
	}
	return t.ExpectReference(call, c, result)
}

// ExpectCaseBits calls a case and expects the bits of an earlier result.
func (t *T) ExpectCaseBits(c *cases.Case, want *calls.Result) error {
	call, got, err := t.RunCase(t.Caller, c)
	if err != nil {
		return err
	}
	t.ExpectSameBits(call, c.Name, got, want)
	return nil
}

// ExpectSameBits expects two results to have the same bits, unless the definition promises no such thing.
func (t *T) ExpectSameBits(call *calls.Call, name string, got, want *calls.Result) {
	if !t.Op.Deterministic {
		return
	}
	for i, w := range want.Existing() {
		if got.Outputs[i].Array == nil {
			continue // a saved output, which only the backend gives
		}
		if text := oracle.SameBits(cases.Slots(t.Op)[i].Name, got.Outputs[i].Array, w.Array); text != "" {
			t.Fail(call, name, "%s", text)
		}
	}
}

// ExpectEqualValues expects equal values; the sign of a zero may differ.
func (t *T) ExpectEqualValues(call *calls.Call, name string, got, want *calls.Result) {
	for i, w := range want.Existing() {
		if got.Outputs[i].Array == nil {
			continue
		}
		if text := oracle.Compare(cases.Slots(t.Op)[i].Name, got.Outputs[i].Array, oracle.ExpectedOf(w.Array), oracle.Tolerance{}); text != "" {
			t.Fail(call, name, "%s", text)
		}
	}
}

// ExpectMetadata expects outputs of the inferred dtypes and shapes, dense, on the device under test. It reports
// whether the values can be compared.
func (t *T) ExpectMetadata(call *calls.Call, name string, c *cases.Case, result *calls.Result) bool {
	want, err := c.ZeroResults()
	if err != nil {
		t.Fail(call, name, "%v", err)
		return false
	}
	ok := true
	for i, o := range result.Existing() {
		s := cases.Slots(t.Op)[i]
		dense := s.Output >= 0 || !calls.WritesMemory(t.Caller)
		if text := t.metadataDifference(o, want[i], dense); text != "" {
			ok = false
			t.Fail(call, name, "%s: %s", s.Name, text)
		}
	}
	return ok
}

// metadataDifference says how a result differs from what was inferred, or "". What was overwritten keeps the strides
// that it had.
func (t *T) metadataDifference(o calls.Output, want *ndarray.Array, dense bool) string {
	got, expected := o.DType.Long+rule.List(o.Shape), want.DType.Long+rule.List(want.Shape)
	if got != expected {
		return fmt.Sprintf("got %s, want %s", got, expected)
	}
	if o.Abstract {
		return ""
	}
	layout := &ndarray.Array{Shape: o.Shape, Strides: o.Strides}
	if dense && !layout.IsDense() {
		return fmt.Sprintf("got strides %s, want dense memory", rule.List(o.Strides))
	}
	if o.Device != t.Env.Device {
		return fmt.Sprintf("got device %s, want %s", o.Device, t.Env.Device)
	}
	return ""
}

// ExpectLaunchOfKernel expects that a call started one kernel, and the one that is forced if one is.
func (t *T) ExpectLaunchOfKernel(call *calls.Call, c *cases.Case, result *calls.Result) {
	if t.Env.Foreign != nil {
		return // nobody counts
	}
	want := int64(0)
	for _, o := range result.Existing() {
		if o.Len() > 0 {
			want = 1
		}
	}
	if result.Launches != want {
		t.Fail(call, c.Name, "started %d kernels, want %d", result.Launches, want)
	}
}

// CompareOutput judges a result by the reference, and counts its errors.
func (t *T) CompareOutput(call *calls.Call, c *cases.Case, slot int, got *ndarray.Array, want oracle.Expected) {
	t.compare(call, c, slot, got, want, nil, oracle.ToleranceOf(c, slot), true)
}

// CompareWithin judges a result by the reference within another bound, and counts no errors.
func (t *T) CompareWithin(call *calls.Call, c *cases.Case, slot int, got *ndarray.Array, want oracle.Expected, bound oracle.Tolerance) {
	t.compare(call, c, slot, got, want, nil, bound, false)
}

// CompareScaled judges a result for inputs that are much larger or smaller than usual. It may be narrow, what the reference gives in
// float32, where that overflows. Errors are not counted: they are extreme.
func (t *T) CompareScaled(call *calls.Call, c *cases.Case, slot int, got *ndarray.Array, want, narrow oracle.Expected) {
	t.compare(call, c, slot, got, want, narrow.Values, oracle.ForScaled(c, slot, want, narrow), false)
}

func (t *T) compare(
	call *calls.Call, c *cases.Case, slot int, got *ndarray.Array, want oracle.Expected, or []float64, bound oracle.Tolerance, counts bool,
) {
	name := cases.Slots(t.Op)[slot].Name
	got = want.Numbers(got)
	if text := oracle.ShapeDifference(name, got, want); text != "" {
		t.FailBecause(report.CauseDiffers, call, c.Name, "%s", text)
		return
	}
	found := oracle.Inspect(got, want, or, bound)
	if counts && t.Env.Errors != nil && !t.Exploring && ndarray.IsFloat(got.DType) && got.Len() > 0 {
		t.Env.Errors.Add(oracle.HistogramKey{Op: t.Op.Name, Adaptor: t.Caller.Name(), Kernel: t.kernel, DTypes: c.DTypes.String(), Output: name}, got, &found, bound)
	}
	if text := found.Text(name, got, bound); text != "" {
		at := &Element{Slot: slot, Name: name, Index: cases.OrEmpty(found.Index(got)), Want: found.WantText(got)}
		if want.Packs != "" {
			at = nil // the script prints elements, not the numbers in them
		}
		t.because(report.CauseDiffers)
		t.failAt(call, at, c.Name, text+rangeHint(call))
	}
}

// ExpectSuccess returns the result, arranged by slots. It is nil if the call raised or returned something else than it
// should, which is recorded.
func (t *T) ExpectSuccess(call *calls.Call, name string, result *calls.Result) *calls.Result {
	return t.ExpectSuccessBy(t.Caller, call, name, result)
}

// ExpectSuccessBy is ExpectSuccess for a call through another caller.
func (t *T) ExpectSuccessBy(caller calls.Caller, call *calls.Call, name string, result *calls.Result) *calls.Result {
	if result.Error != nil {
		t.FailBecause("raises "+result.Error.Class+": "+result.Error.Text, call, name, "raised %s: %s\n%s", result.Error.Class, result.Error.Text, result.Error.Trace)
		return nil
	}
	outputs, mistake := calls.AlignOutputs(call, caller, result.Outputs)
	if mistake != "" {
		t.Fail(call, name, "%s", mistake)
		return nil
	}
	result.Outputs = outputs
	return result
}

// ExpectReference compares a result with the reference.
func (t *T) ExpectReference(call *calls.Call, c *cases.Case, result *calls.Result) error {
	if c.Empty() {
		return nil
	}
	want, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
	if err != nil {
		return err
	}
	for i, o := range result.Existing() {
		t.CompareOutput(call, c, i, o.Array, want[i])
	}
	return nil
}
