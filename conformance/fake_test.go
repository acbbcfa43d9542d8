package conformance

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
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

// fake is a framework in Go that has the op affine. Without mutation it is perfect.
type fake struct {
	name string
	// before and after plant faults; before may answer in the place of the framework.
	before func(call *Call) (*Result, error)
	after  func(call *Call, r *Result)
	about  func(d *Description)
}

func (f *fake) Name() string     { return f.name }
func (f *fake) Word() string     { return f.name + ".array" }
func (f *fake) Probes() []string { return []string{"strange"} }

func (f *fake) Call(_ context.Context, call *Call) (*Result, error) {
	if f.before != nil {
		if r, err := f.before(call); r != nil || err != nil {
			return r, err
		}
	}
	r := f.answer(call)
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
	y := affine(call)
	if y.Len() > 0 {
		r.Launches = 1
	}
	out := Output{Array: y, Strides: y.Strides, Device: "cpu", Given: -1, Span: [2]uint64{1 << 40, 1<<40 + uint64(len(y.Data))}}
	if call.Out != nil {
		o, written := call.Out[0], r.Buffers[len(r.Buffers)-1]
		copy(written[o.Offset*ndarray.ItemSize(o.DType):], y.Data)
		out.Given = 0
	}
	r.Outputs = []Output{out}
	return r
}

// fault is the error of a wrong call.
func (f *fake) fault(call *Call) *rule.Fault {
	if len(call.Extra) > 0 || len(call.Inputs) > len(call.Op.Inputs) {
		return &rule.Fault{Class: "TypeError", Text: "surplus argument"}
	}
	if device := call.Inputs[0]; device != nil {
		if x, ok := device.(*Tensor); ok && x.Device == "cuda:0" && call.Out != nil && call.Out[0].Device == "cuda:0" {
			return &rule.Fault{Class: "NotImplementedError", Text: call.Op.Name + ": no kernel for device cuda:0, available: cpu"}
		}
	}
	if fault := expect(rule.Compile(call.Op), call, f.Word(), "cpu"); fault != nil {
		return fault
	}
	if fault := layoutFault(f, call); fault != nil || call.Out == nil {
		return fault
	}
	value := func(want, got string) *rule.Fault {
		return &rule.Fault{Class: "ValueError", Text: call.Op.Name + ": y: expected " + want + ", got " + got}
	}
	o := call.Out[0]
	switch {
	case !o.IsDense():
		return value("contiguous memory", "strides "+list(o.Strides))
	case o.ReadOnly:
		return value("writable memory", "a read-only array")
	}
	for i, in := range call.Inputs {
		if x, ok := in.(*Tensor); ok && len(x.Data) > 0 && len(o.Data) > 0 && &x.Data[0] == &o.Data[0] {
			return value("memory apart from "+call.Op.Inputs[i].Name, "overlapping memory")
		}
	}
	return nil
}

// affine computes the op in float64 and rounds once.
func affine(call *Call) *ndarray.Array {
	c := caseOf(call)
	values := affineValues(c, func(v float64) float64 { return v })
	return ndarray.FromFloats(c.Inputs[0].DType, c.Inputs[0].Shape, values)
}

// caseOf turns a right call back into a case.
func caseOf(call *Call) *Case {
	c := &Case{Op: call.Op, Attrs: call.Attrs}
	for _, in := range call.Inputs {
		if x, ok := in.(*Tensor); ok {
			c.Inputs = append(c.Inputs, x.Array)
		} else {
			c.Inputs = append(c.Inputs, nil)
		}
	}
	return c
}

func affineValues(c *Case, round func(float64) float64) []float64 {
	x, w := c.Inputs[0].Floats(), c.Inputs[1].Floats()
	bias := make([]float64, len(w))
	if len(c.Inputs) > 2 && c.Inputs[2] != nil {
		bias = c.Inputs[2].Floats()
	}
	alpha, _ := number(c.attr("alpha"))
	for i, v := range x {
		y := round(round(alpha*round(v*w[i%len(w)])) + bias[i%len(w)])
		if c.attr("mode") == "relu" && y < 0 {
			y = 0
		}
		x[i] = y
	}
	return x
}

// fakeOracle evaluates affine as the reference would.
type fakeOracle struct{}

func (fakeOracle) Reference(_ context.Context, c *Case, precision string) ([]Expected, error) {
	round := func(v float64) float64 { return v }
	if precision == "float32" {
		round = func(v float64) float64 { return float64(float32(v)) }
	}
	return []Expected{{c.Inputs[0].Shape, affineValues(c, round)}}, nil
}

// fakeChain hands arrays over; it copies or computes wrongly on request.
type fakeChain struct {
	fake         *fake
	copies       bool
	wrongResults bool
}

func (f *fakeChain) Frameworks() []string { return []string{"fake", "other"} }

func (f *fakeChain) Chain(_ context.Context, call *Call, feed int, _, _ string) (*Result, uint64, uint64, error) {
	second := call.clone()
	second.Inputs[feed] = &Tensor{Array: f.fake.answer(call).Outputs[0].Array}
	r := f.fake.answer(second)
	if f.wrongResults {
		nudge(r)
	}
	to := uint64(1 << 12)
	if f.copies {
		to++
	}
	return r, 1 << 12, to, nil
}

// Describe says what the definition says.
func (f *fake) Describe(_ context.Context, op *opdef.Op) (*Description, error) {
	d := &Description{Doc: op.Doc + "\n\nMore.", Public: []string{"affine", "conv"}}
	for _, in := range op.Inputs {
		d.Parameters = append(d.Parameters, Parameter{Name: in.Name, Required: !in.Optional})
	}
	d.Parameters = append(d.Parameters,
		Parameter{Name: "alpha", Keyword: true, Default: map[string]any{"float": "1.0"}},
		Parameter{Name: "mode", Keyword: true, Default: map[string]any{"str": "plain"}},
		Parameter{Name: "out", Keyword: true, Default: map[string]any{"none": nil}})
	if f.about != nil {
		f.about(d)
	}
	return d, nil
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

// fakeRun runs one check of affine through a caller beside a perfect backend.
func fakeRun(t *testing.T, id string, caller *fake, change func(*environment)) string {
	t.Helper()
	p := toy(t)
	s := &session{env: environment{
		project: p, device: "cpu", oracle: fakeOracle{}, callers: []Caller{&fake{name: backendName}, caller},
		chain: &fakeChain{fake: caller}, stale: func(context.Context) ([]string, error) { return nil, nil },
	}}
	if change != nil {
		change(&s.env)
	}
	for _, check := range slices.Concat(checks(), definitionChecks()) {
		if check.ID != id {
			continue
		}
		var status string
		for _, r := range s.run(t.Context(), p.Ops[0], caller, "", &check) {
			status = fmt.Sprintf("%s%s: %s\n", status, r.Status, r.Reason)
		}
		return status
	}
	t.Fatalf("no check %q", id)
	return ""
}
