// Package fake is a framework in Go, with a collection of toy ops, for tests of the suite: it does what an adaptor does, and
// wrongly where a test asks for that.
package fake

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/agreement"
	"github.com/opcast/opcast/conformance/internal/checks/endurance"
	"github.com/opcast/opcast/conformance/internal/checks/refusals"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/rule"
)

// path is the path of a file from the folder of this package. Tests of several packages use it, each in its own folder.
func path(elements ...string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(append([]string{filepath.Dir(file)}, elements...)...)
}

// loadToy loads the definitions in testdata of the package run.
func loadToy() (*opdef.Project, error) {
	p, findings, err := load.Load(path("..", "..", "run", "testdata", "toy"))
	if len(findings) > 0 {
		err = fmt.Errorf("toy ops: %v", findings)
	}
	return p, err
}

// Toy is the project of the toy ops.
func Toy(t *testing.T) *opdef.Project {
	t.Helper()
	p, err := loadToy()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Framework is a framework in Go that has the toy ops but for conv. Without a planted error it is perfect.
type Framework struct {
	CallerName string
	// Before and After plant errors; Before may answer in the place of the framework.
	Before func(call *calls.Call) (*calls.Result, error)
	After  func(call *calls.Call, r *calls.Result)
	About  func(d *calls.Description)
	// OnConcurrent, OnChild and KeptMemory plant errors in concurrent calls, in children, and in what a process keeps
	// after many calls.
	OnConcurrent func(thread int, call *calls.Call, r *calls.Result)
	OnChild      func(method string, call *calls.Call, r *calls.Result) (died string)
	KeptMemory   func(s *endurance.ProcessState, round int64, raised string)
	// ChecksContents has it look at what arrays hold, as a library does that is being debugged.
	ChecksContents bool
}

// Name is the name of the caller for which the framework stands.
func (f *Framework) Name() string { return f.CallerName }

// ArrayWord is what messages call an array.
func (f *Framework) ArrayWord() string { return f.CallerName + ".array" }

// Probes are those of a group that the test asked for.
func (f *Framework) Probes(group string) []calls.Probe {
	return map[string][]calls.Probe{
		check.GroupSpecial: calls.ProbesOf("strange"), check.GroupMalformed: calls.ProbesOf("odd"), refusals.GroupRefusals: calls.ProbesOf("unknown_kind"),
		agreement.GroupMixed:           calls.ProbesOf("other"),
		check.GroupWatch:               calls.ProbesOf("pointers", "far", "edge", "kept", "warnings"),
		refusals.GroupDevices:          calls.ProbesOf("second"),
		endurance.GroupEnduranceProbes: calls.ProbesOf("leaks", "copies", "bounded"),
		endurance.GroupThreadProbes:    calls.ProbesOf("number"),
		agreement.GroupStreamProbes:    calls.ProbesOf("side_stream", "two_streams", "graph_replayed"),
		check.GroupMemory: append(calls.ProbesOf("version_mutated", "stale_mutated", "donation_used"),
			calls.Probe{Name: "gradient_refused_out", Refused: true, Out: true}, calls.Probe{Name: "written_out", Out: true}),
	}[group]
}

// Call computes what the toy op says, changed as the test asks.
func (f *Framework) Call(_ context.Context, call *calls.Call) (*calls.Result, error) {
	if f.Before != nil {
		if r, err := f.Before(call); r != nil || err != nil {
			return r, err
		}
	}
	r := f.Answer(farCall(call))
	watch(r, f, call)
	Endure(r, f, call)
	if f.After != nil {
		f.After(call, r)
	}
	return r, nil
}

// Answer is what an adaptor would return for a call.
func (f *Framework) Answer(call *calls.Call) *calls.Result {
	r := &calls.Result{}
	for i, t := range call.Tensors() {
		r.Buffers = append(r.Buffers, bytes.Clone(t.Data))
		r.Spans = append(r.Spans, [2]uint64{uint64(i+1) << 20, uint64(i+1)<<20 + uint64(len(t.Data))})
	}
	if expected := f.expectedError(call); expected != nil {
		r.Error = &calls.CallError{Class: expected.Class, Text: expected.Text}
		return r
	}
	f.compute(call, r)
	return r
}

// compute writes the results into the memory of the call, or into new one.
func (f *Framework) compute(call *calls.Call, r *calls.Result) {
	c := CaseOf(call)
	values := ToyValues(c, func(v float64) float64 { return v })
	for _, s := range calls.ReturnedSlots(call, f) {
		at := slices.IndexFunc(cases.Slots(call.Op), func(other cases.Slot) bool { return other.Arg == s.Arg })
		if !c.Has(s) || calls.IsBare(f) && s.Output >= 0 && call.Out[s.Output] == nil {
			r.Outputs = append(r.Outputs, calls.Output{})
			continue
		}
		shape, err := c.ShapeOf(s.Arg)
		if err != nil {
			panic(err)
		}
		y := ndarray.FromFloats(c.DType(s.Type), shape, values[at])
		if whole := ToyIntegers(c); whole != nil {
			y = ndarray.FromInts(c.DType(s.Type), shape, whole[at])
		}
		r.Launches = max(r.Launches, min(y.Len(), 1))
		first := uint64(1+at) << 40
		out := calls.Output{Array: y, Strides: y.Strides, Device: "cpu", OutIndex: -1, ArgumentIndex: -1, Span: [2]uint64{first, first + uint64(len(y.Data))}}
		var into *calls.Tensor
		if s.Input >= 0 && calls.WritesMemory(f) {
			into = call.Inputs[s.Input].(*calls.Tensor)
			out.ArgumentIndex, out.Strides, out.Span = call.TensorIndex(into), into.Strides, r.Spans[call.TensorIndex(into)]
		} else if s.Output >= 0 && call.Out != nil && call.Out[s.Output] != nil {
			into, out.OutIndex = call.Out[s.Output], s.Output
		}
		if into != nil {
			store(r, call, into, y)
		}
		r.Outputs = append(r.Outputs, out)
	}
}

// store writes the elements of y into the memory of an argument; arguments over the same memory see it, too.
func store(r *calls.Result, call *calls.Call, into *calls.Tensor, y *ndarray.Array) {
	size, values := ndarray.ItemSize(y.DType), y.Bytes()
	for k, other := range call.Tensors() {
		if other != into && (len(other.Data) == 0 || len(into.Data) == 0 || &other.Data[0] != &into.Data[0]) {
			continue
		}
		next := int64(0)
		into.Positions(func(at int64) {
			copy(r.Buffers[k][at*size:(at+1)*size], values[next:next+size])
			next += size
		})
	}
}

// expectedError is the error of an invalid call; nil for a valid one.
func (f *Framework) expectedError(call *calls.Call) *rule.Error {
	if expected := f.listError(call); expected != nil {
		return expected
	}
	if strings.HasPrefix(call.Probe, refusals.GroupRefusals) {
		return &rule.Error{Class: "ValueError", Text: "op_call: kind: expected the number of an op, got 1099511627776"}
	}
	if strings.Contains(call.Probe, "refused") {
		return &rule.Error{Class: "ValueError", Text: call.Op.Name + ": y: expected no gradient, got one"}
	}
	if out, given := call.Extra["out"]; given && check.OutputsGiven(call.Op, f) == nil {
		return f.countError(call.Op, out)
	}
	if len(call.Extra) > 0 || len(call.Inputs) > len(call.Op.Inputs) {
		return &rule.Error{Class: "TypeError", Text: "surplus argument"}
	}
	if first := call.Inputs[0]; first != nil {
		if x, ok := first.(*calls.Tensor); ok && x.Device == "cuda:0" && AllOn(call, "cuda:0") {
			return &rule.Error{Class: "NotImplementedError", Text: call.Op.Name + ": no kernel for device cuda:0, available: cpu"}
		}
	}
	if expected := invalid.ExpectedError(rule.Compile(call.Op), call, f, "cpu"); expected != nil {
		return expected
	}
	if text := ContentsError(CaseOf(call), f.ChecksContents); text != "" {
		return &rule.Error{Class: "ValueError", Text: text}
	}
	return variantError(call, calls.IsBare(f) && f.CallerName != calls.OpCallName)
}

// countError is the error of out= that is no array and no tuple of as many as there are outputs.
func (f *Framework) countError(op *opdef.Op, out any) *rule.Error {
	list, isTuple := out.(calls.Tuple)
	n := len(list)
	if !isTuple {
		n = 1
	}
	switch want := len(cases.PublicOutputs(op)); {
	case n == 1 && want == 1:
		return &rule.Error{Class: "TypeError", Text: op.Name + ": y: expected " + f.ArrayWord() + ", got list"}
	case want == 1:
		return &rule.Error{Class: "ValueError", Text: fmt.Sprintf("%s: out: expected 1 array, got %d", op.Name, n)}
	default:
		return &rule.Error{Class: "ValueError", Text: fmt.Sprintf("%s: out: expected %d arrays, got %d", op.Name, want, n)}
	}
}

// AllOn reports whether every array argument is on a device.
func AllOn(call *calls.Call, device string) bool {
	return !slices.ContainsFunc(call.Tensors(), func(t *calls.Tensor) bool { return t.Device != device })
}

// CaseOf turns a valid call of a toy op back into a case: x[*, N] and what fits it.
func CaseOf(call *calls.Call) *cases.Case {
	c := &cases.Case{Op: call.Op, Attrs: call.Attrs, Sizes: map[string]int64{}, DTypes: cases.DTypes{}}
	for i, in := range call.Inputs {
		var array *ndarray.Array
		if x, ok := in.(*calls.Tensor); ok {
			array = x.Array
		} else if in != nil && call.Op.TakesNumber(&call.Op.Inputs[i]) {
			array = number(call.Op.Inputs[i].Type.DType, in)
		}
		c.Inputs = append(c.Inputs, array)
	}
	x := c.Inputs[0]
	last := x.Rank() - 1
	c.Batch, c.Sizes["N"], c.DTypes["T"] = x.Shape[:last], x.Shape[last], x.DType.Short
	switch call.Op.Name {
	case "ragged":
		raggedSizes(c)
	case "gather":
		listSizes(c)
	}
	return c
}

// Info says that the library has kernels for the host only, on a machine without another device.
func (f *Framework) Info() calls.WorkerInfo {
	return calls.WorkerInfo{Built: []string{"cpu"}, Abilities: fakeAbilities[f.CallerName]}
}

// fakeAbilities are those of fakes that stand for a framework; others have the usual ones.
var fakeAbilities = map[string]*calls.Abilities{
	"jax": {Modes: []string{"eager", "jit"}, Features: []string{
		calls.FeatureTransforms, calls.FeatureShapesOnly, calls.FeatureSymbolicExport, "scan", "sharding", "x64 mode",
	}},
	"torch": {Writes: true, Out: true, Modes: []string{"eager"}, Elsewhere: "meta", Features: []string{
		calls.FeatureTransforms, calls.FeatureWrappedErrors, "DTensor", "Inductor", "autocast", "dispatch modes", "flop counter", "opcheck", "profiler of this kind",
		"torch.func",
	}},
	"numpy": {Writes: true, Out: true, Modes: []string{"eager"}, Script: &calls.ScriptSyntax{
		Imports: "import ml_dtypes\nimport numpy as np", Array: "np.ndarray(shape, dtype, memory, offset, strides)", DType: "np.dtype(%s)",
	}},
}

// Describe says what the definition says.
func (f *Framework) Describe(_ context.Context, op *opdef.Op) (*calls.Description, error) {
	// Docstrings break the lines of long docs.
	public := []string{"accumulate", "affine", "conv", "counts", "gather", "join", "move", "norm", "norm_backward", "ragged"}
	d := &calls.Description{Doc: strings.Replace(op.Doc, " ", "\n    ", 1) + "\n\nMore.", Public: public}
	for _, p := range op.Whole().Parameters() {
		shown := calls.Parameter{Name: p.Name(), Keyword: !p.Positional, Required: p.Needed}
		if p.Attr != nil {
			shown.Default = tagOf(p.Attr.Default)
		}
		d.Parameters = append(d.Parameters, shown)
	}
	if check.OutputsGiven(op, f) == nil && !calls.IsBare(f) {
		d.Parameters = append(d.Parameters, calls.Parameter{Name: "out", Keyword: true, Default: map[string]any{"none": nil}})
	}
	if f.About != nil {
		f.About(d)
	}
	return d, nil
}

// tagOf is a default as a worker reports it.
func tagOf(v any) map[string]any {
	switch v := v.(type) {
	case float64:
		return map[string]any{"float": oracle.FormatFloat(v)}
	case bool:
		return map[string]any{"bool": v}
	}
	return map[string]any{"str": v}
}
