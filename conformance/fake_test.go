package conformance

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// toy loads the definitions in testdata.
func toy(t *testing.T) *opdef.Project {
	t.Helper()
	p, findings, err := opdef.Load("testdata/toy")
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	return p
}

// fake is a framework in Go that has the toy ops but for conv. Without a planted fault it is perfect.
type fake struct {
	name string
	// before and after plant faults; before may answer in the place of the framework.
	before func(call *Call) (*Result, error)
	after  func(call *Call, r *Result)
	about  func(d *Description)
	// together, child and keeps plant faults in calls at once, in children and in what the process has after many calls.
	together func(thread int, call *Call, r *Result)
	child    func(method string, call *Call, r *Result) (died string)
	keeps    func(s *state, round int64, raised string)
	// looks has it look at what arrays hold, as a library does that is being debugged.
	looks bool
}

func (f *fake) Name() string { return f.name }
func (f *fake) Word() string { return f.name + ".array" }

func (f *fake) Probes(group string) []Probe {
	return map[string][]Probe{
		groupSpecial: probesOf("strange"), groupMalformed: probesOf("odd"), groupRefusals: probesOf("unknown_kind"),
		groupMixed:        probesOf("other"),
		groupWatch:        probesOf("pointers", "far", "warnings"),
		groupDevices:      probesOf("second"),
		groupEndure:       probesOf("leaks", "copies"),
		groupStreamProbes: probesOf("side_stream", "two_streams", "graph_replayed"),
		groupMemory: append(probesOf("version_mutated", "stale_mutated", "donation_used"),
			Probe{Name: "gradient_refused_out", Refused: true, Out: true}, Probe{Name: "written_out", Out: true}),
	}[group]
}

func (f *fake) Call(_ context.Context, call *Call) (*Result, error) {
	if f.before != nil {
		if r, err := f.before(call); r != nil || err != nil {
			return r, err
		}
	}
	r := f.answer(farCall(call))
	r.watch(f, call)
	r.endure(f, call)
	if f.after != nil {
		f.after(call, r)
	}
	return r, nil
}

func (f *fake) answer(call *Call) *Result {
	r := &Result{}
	for i, t := range call.tensors() {
		r.Buffers = append(r.Buffers, bytes.Clone(t.Data))
		r.Spans = append(r.Spans, [2]uint64{uint64(i+1) << 20, uint64(i+1)<<20 + uint64(len(t.Data))})
	}
	if fault := f.fault(call); fault != nil {
		r.Error = &CallError{Class: fault.Class, Text: fault.Text}
		return r
	}
	f.compute(call, r)
	return r
}

// compute writes the results into the memory of the call, or into new one.
func (f *fake) compute(call *Call, r *Result) {
	c := caseOf(call)
	values := toyValues(c, func(v float64) float64 { return v })
	for _, s := range expects(call, f) {
		at := slices.IndexFunc(slots(call.Op), func(other slot) bool { return other.Arg == s.Arg })
		if !c.has(s) || isBare(f) && s.output >= 0 && call.Out[s.output] == nil {
			r.Outputs = append(r.Outputs, Output{})
			continue
		}
		shape, err := c.Shape(s.Type)
		if err != nil {
			panic(err)
		}
		y := ndarray.FromFloats(c.DType(s.Type), shape, values[at])
		r.Launches = max(r.Launches, min(y.Len(), 1))
		first := uint64(1+at) << 40
		out := Output{Array: y, Strides: y.Strides, Device: "cpu", Given: -1, Same: -1, Span: [2]uint64{first, first + uint64(len(y.Data))}}
		var into *Tensor
		if s.input >= 0 && writesMemory(f) {
			into = call.Inputs[s.input].(*Tensor)
			out.Same, out.Strides, out.Span = call.number(into), into.Strides, r.Spans[call.number(into)]
		} else if s.output >= 0 && call.Out != nil && call.Out[s.output] != nil {
			into, out.Given = call.Out[s.output], s.output
		}
		if into != nil {
			r.store(call, into, y)
		}
		r.Outputs = append(r.Outputs, out)
	}
}

// store writes the elements of y into the memory of an argument; arguments over the same memory see it, too.
func (r *Result) store(call *Call, into *Tensor, y *ndarray.Array) {
	size, values := ndarray.ItemSize(y.DType), y.Bytes()
	for k, other := range call.tensors() {
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

// fault is the error of a wrong call.
func (f *fake) fault(call *Call) *rule.Fault {
	if strings.HasPrefix(call.Probe, groupRefusals) {
		return &rule.Fault{Class: "ValueError", Text: "op_call: kind: expected the number of an op, got 1099511627776"}
	}
	if strings.Contains(call.Probe, "refused") {
		return &rule.Fault{Class: "ValueError", Text: call.Op.Name + ": y: expected no gradient, got one"}
	}
	if out, given := call.Extra["out"]; given && outputsGiven(call.Op, f) == nil {
		return f.countFault(call.Op, out)
	}
	if len(call.Extra) > 0 || len(call.Inputs) > len(call.Op.Inputs) {
		return &rule.Fault{Class: "TypeError", Text: "surplus argument"}
	}
	if first := call.Inputs[0]; first != nil {
		if x, ok := first.(*Tensor); ok && x.Device == "cuda:0" && allOn(call, "cuda:0") {
			return &rule.Fault{Class: "NotImplementedError", Text: call.Op.Name + ": no kernel for device cuda:0, available: cpu"}
		}
	}
	if fault := expect(rule.Compile(call.Op), call, f, "cpu"); fault != nil {
		return fault
	}
	if fault := layoutFault(f, call); fault != nil {
		return fault
	}
	if f.looks {
		if text := contentsFault(caseOf(call)); text != "" {
			return &rule.Fault{Class: "ValueError", Text: text}
		}
	}
	return variantFault(call, isBare(f) && f.name != opCallName)
}

// countFault is the error of out= that is no array and no tuple of as many as there are outputs.
func (f *fake) countFault(op *opdef.Op, out any) *rule.Fault {
	list, isTuple := out.(tuple)
	n := len(list)
	if !isTuple {
		n = 1
	}
	switch want := len(returned(op)); {
	case n == 1 && want == 1:
		return &rule.Fault{Class: "TypeError", Text: op.Name + ": y: expected " + f.Word() + ", got list"}
	case want == 1:
		return &rule.Fault{Class: "ValueError", Text: fmt.Sprintf("%s: out: expected 1 array, got %d", op.Name, n)}
	default:
		return &rule.Fault{Class: "ValueError", Text: fmt.Sprintf("%s: out: expected %d arrays, got %d", op.Name, want, n)}
	}
}

// allOn reports whether every array argument is on a device.
func allOn(call *Call, device string) bool {
	return !slices.ContainsFunc(call.tensors(), func(t *Tensor) bool { return t.Device != device })
}

// caseOf turns a right call of a toy op back into a case: x[*, N] and what fits it.
func caseOf(call *Call) *Case {
	c := &Case{Op: call.Op, Attrs: call.Attrs, Sizes: map[string]int64{}, DTypes: dtypes{}}
	for _, in := range call.Inputs {
		if x, ok := in.(*Tensor); ok {
			c.Inputs = append(c.Inputs, x.Array)
		} else {
			c.Inputs = append(c.Inputs, nil)
		}
	}
	x := c.Inputs[0]
	last := x.Rank() - 1
	c.Batch, c.Sizes["N"], c.DTypes["T"] = x.Shape[:last], x.Shape[last], x.DType.Short
	if call.Op.Name == "ragged" {
		raggedSizes(c)
	}
	return c
}

// tells says that the library has kernels for the host only, on a machine without another device.
func (f *fake) tells() greeting {
	return greeting{Built: []string{"cpu"}, Abilities: fakeAbilities[f.name]}
}

// fakeAbilities are those of fakes that stand for a framework; others have the usual ones.
var fakeAbilities = map[string]*abilities{
	"jax": {Modes: []string{"eager", "jit"}, Features: []string{
		featureTransforms, featureShapesOnly, featureSymbolicExport, "scan", "sharding", "x64 mode",
	}},
	"torch": {Writes: true, Out: true, Modes: []string{"eager"}, Elsewhere: "meta", Features: []string{
		featureTransforms, featureWrappedErrors, "DTensor", "Inductor", "autocast", "dispatch modes", "opcheck", "profiler of this kind",
		"torch.func",
	}},
	"numpy": {Writes: true, Out: true, Modes: []string{"eager"}, Script: &dialect{
		"import ml_dtypes\nimport numpy as np", "np.ndarray(shape, dtype, memory, offset, strides)", "np.dtype(%s)",
	}},
}

// Describe says what the definition says.
func (f *fake) Describe(_ context.Context, op *opdef.Op) (*Description, error) {
	d := &Description{Doc: op.Doc + "\n\nMore.", Public: []string{"accumulate", "affine", "conv", "norm", "norm_backward", "ragged"}}
	for _, in := range op.Inputs {
		d.Parameters = append(d.Parameters, Parameter{Name: in.Name, Required: !in.Optional})
	}
	for i := range op.Attrs {
		d.Parameters = append(d.Parameters, Parameter{Name: op.Attrs[i].Name, Keyword: true, Default: tagOf(op.Attrs[i].Default)})
	}
	if outputsGiven(op, f) == nil && !isBare(f) {
		d.Parameters = append(d.Parameters, Parameter{Name: "out", Keyword: true, Default: map[string]any{"none": nil}})
	}
	if f.about != nil {
		f.about(d)
	}
	return d, nil
}

// tagOf is a default as a worker reports it.
func tagOf(v any) map[string]any {
	switch v := v.(type) {
	case float64:
		return map[string]any{"float": formatFloat(v)}
	case bool:
		return map[string]any{"bool": v}
	}
	return map[string]any{"str": v}
}

// nudge moves the last element of the result by two spacings.
func nudge(r *Result) {
	if len(r.Outputs) == 0 || r.Outputs[0].Len() == 0 {
		return
	}
	o := r.Outputs[0]
	last := o.Len() - 1
	v := ndarray.GetFloat(o.DType, o.Data, last)
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		ndarray.PutFloat(o.DType, o.Data, last, v+6*ndarray.Spacing(o.DType, v))
	}
}
