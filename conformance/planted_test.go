package conformance

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/rpc"
)

// A framework without faults fails no check, and each check finds something to do with some toy; else it asks for too much.
func TestPerfectCallerPasses(t *testing.T) {
	for _, check := range checks() {
		elsewhere := []string{"gradient", "independent", "samples", "abi", noKernelCheck.ID}
		if slices.Contains(elsewhere, check.ID) || check.Group == groupTransform || check.Through == throughFunctions {
			continue // what authors write in Python is judged by Python, in tests of their own; a toy cannot be transformed, and is no function
		}
		passed := false
		for _, op := range []string{"affine", "accumulate", "norm", "norm_backward", "ragged"} {
			for _, name := range []string{"fake", "jax", backendName, nativeName, opCallName} {
				for line := range strings.Lines(fakeRunOf(t, op, check.ID, &fake{name: name}, nil)) {
					passed = passed || strings.HasPrefix(line, "pass")
					if !strings.HasPrefix(line, "pass") && !strings.HasPrefix(line, "skip") && !strings.HasPrefix(line, "unsupported") {
						t.Errorf("%s, %s, %s: %s", check.ID, op, name, line)
					}
				}
			}
		}
		if !passed {
			t.Errorf("%s: passes for no toy", check.ID)
		}
	}
}

func x(call *Call) *Tensor {
	x, _ := call.Inputs[0].(*Tensor)
	return x
}

// when nudges the results of the calls that a test accepts.
func when(test func(call *Call) bool) func(*Call, *Result) {
	return func(call *Call, r *Result) {
		if r.Error == nil && test(call) {
			nudge(r)
		}
	}
}

// planted faults are the mutants of the suite: each check named must fail.
var planted = map[string]struct {
	checks string
	fake   fake
}{
	"results are off":            {"value attrs rank sizes bits denormals", fake{after: when(func(*Call) bool { return true })}},
	"a bias is dropped":          {"value", fake{after: when(func(c *Call) bool { return c.Inputs[2] != nil })}},
	"an absent bias is not zero": {"optional", fake{after: when(func(c *Call) bool { return c.Inputs[2] == nil })}},
	"an explicit default counts": {"defaults", fake{after: when(func(c *Call) bool { return len(c.Attrs) > 0 })}},
	"integers are truncated": {"defaults", fake{after: when(func(c *Call) bool {
		_, isInt := c.Attrs["alpha"].(int64)
		return isInt
	})}},
	"a choice is ignored":       {"attrs", fake{after: when(func(c *Call) bool { return c.Attrs["mode"] == "relu" })}},
	"keywords are mixed up":     {"keywords", fake{after: when(func(c *Call) bool { return c.Style == Reversed })}},
	"neighbours matter":         {"split", fake{after: when(func(c *Call) bool { return x(c).Shape[0] == 3 })}},
	"a tail is missed":          {"sizes", fake{after: when(func(c *Call) bool { return x(c).Shape[x(c).Rank()-1] == 129 })}},
	"rank 1 is special":         {"rank", fake{after: when(func(c *Call) bool { return x(c).Rank() == 1 })}},
	"NaN is lost":               {"special-values", fake{after: replace(math.IsNaN, 0)}},
	"denormals are flushed":     {"magnitudes denormals", fake{after: replace(func(v float64) bool { return math.Abs(v) < 1e-37 }, 0)}},
	"large numbers overflow":    {"magnitudes", fake{after: replace(func(v float64) bool { return math.Abs(v) > 1e8 }, math.Inf(1))}},
	"float16 is missing":        {"dtype-combinations", fake{before: refuse("f16")}},
	"float64 is accepted":       {"dtype-refused", fake{before: accept("f64")}},
	"the dtype is promoted":     {"shape dtype-combinations", fake{after: promote}},
	"an axis is added":          {"shape", fake{after: func(_ *Call, r *Result) { each(r, func(o *Output) { o.Shape = append([]int64{1}, o.Shape...) }) }}},
	"results are strided":       {"shape", fake{after: func(_ *Call, r *Result) { each(r, func(o *Output) { o.Strides = slices.Repeat([]int64{2}, o.Rank()) }) }}},
	"the framework computes":    {"shape bits", fake{after: func(_ *Call, r *Result) { r.Launches = 0 }}},
	"empty calls launch":        {"zero-size", fake{after: func(_ *Call, r *Result) { r.Launches = 1 }}},
	"inputs are changed":        {"inputs-unchanged", fake{after: func(_ *Call, r *Result) { r.Buffers[1][0] ^= 1 }}},
	"a result is a view":        {"fresh-outputs", fake{after: func(_ *Call, r *Result) { each(r, func(o *Output) { o.Span = r.Spans[0] }) }}},
	"out is ignored":            {"out", fake{after: func(_ *Call, r *Result) { each(r, func(o *Output) { o.Given = -1 }) }}},
	"an element is not written": {"out", fake{after: unwritten}},
	"a byte before is written":  {"out", fake{after: func(c *Call, r *Result) { scribble(c, r, 0) }}},
	"a byte after is written":   {"out", fake{after: func(c *Call, r *Result) { scribble(c, r, -1) }}},
	"strides are ignored":       {"transposed sliced stepped expanded reversed", fake{before: densely}},
	"a text differs": {"errors error-agreement precedence", fake{after: func(_ *Call, r *Result) {
		if r.Error != nil {
			r.Error.Text += "."
		}
	}}},
	"a class differs": {"errors error-agreement", fake{after: func(_ *Call, r *Result) {
		if r.Error != nil && r.Error.Class == "TypeError" {
			r.Error.Class = "RuntimeError"
		}
	}}},
	"unknown arguments pass": {"call-shape", fake{before: func(c *Call) (*Result, error) {
		if c.Extra != nil {
			return &Result{}, nil
		}
		return nil, nil
	}}},
	"an error writes": {"side-effects", fake{after: func(_ *Call, r *Result) {
		if r.Error != nil {
			r.Buffers[0][0] ^= 1
		}
	}}},
	"an error launches": {"side-effects", fake{after: func(_ *Call, r *Result) {
		if r.Error != nil {
			r.Launches = 1
		}
	}}},
	"a strange array crashes": {"special-inputs", fake{before: func(c *Call) (*Result, error) {
		if c.Probe != "" {
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		return nil, nil
	}}},
	"a strange array is wrong": {"special-inputs", fake{after: when(func(c *Call) bool { return c.Probe != "" })}},
	"a strange array raises": {"special-inputs", fake{after: func(c *Call, r *Result) {
		if c.Probe != "" {
			r.Error = &CallError{Class: "RuntimeError", Text: "no"}
		}
	}}},
	"the default stream runs": {"side-stream graph", fake{after: when(func(c *Call) bool { return strings.HasPrefix(c.Probe, groupStreamProbes) })}},
	"another stream disagrees": {"two-streams graph", fake{after: func(c *Call, r *Result) {
		if strings.HasPrefix(c.Probe, groupStreamProbes) {
			r.Notes = map[string]any{"the other stream agrees": false}
		}
	}}},
	"a default differs":      {"signature", fake{about: func(d *Description) { d.Parameters[3].Default["float"] = "2.0" }}},
	"parameters are swapped": {"signature", fake{about: func(d *Description) { d.Parameters[0], d.Parameters[1] = d.Parameters[1], d.Parameters[0] }}},
	"an attr is positional":  {"signature", fake{about: func(d *Description) { d.Parameters[4].Keyword = false }}},
	"the doc is old":         {"signature", fake{about: func(d *Description) { d.Doc = "Something." }}},
	"an op is missing":       {"signature", fake{about: func(d *Description) { d.Public = d.Public[:1] }}},
}

func TestPlantedFaultsAreFound(t *testing.T) {
	for name, fault := range planted {
		t.Run(name, func(t *testing.T) {
			for id := range strings.FieldsSeq(fault.checks) {
				caller := fault.fake
				caller.name = "fake"
				if status := fakeRun(t, id, &caller, nil); !strings.Contains(status, "fail: ") {
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}

func TestPlantedFaultsAroundTheCaller(t *testing.T) {
	for name, test := range map[string]struct {
		check  string
		change func(*environment)
	}{
		"a chain copies":   {"chain", func(e *environment) { e.chain.(*fakeChain).copies = true }},
		"a chain is wrong": {"chain", func(e *environment) { e.chain.(*fakeChain).wrongResults = true }},
		"generated files stale": {"up-to-date", func(e *environment) {
			e.stale = func(context.Context) ([]string, error) { return []string{"a.py"}, nil }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if status := fakeRun(t, test.check, &fake{name: "fake"}, test.change); !strings.HasPrefix(status, "fail: ") {
				t.Error(status)
			}
		})
	}
}

func each(r *Result, change func(*Output)) {
	for i := range r.Outputs {
		change(&r.Outputs[i])
	}
}

// replace changes the elements that a test accepts.
func replace(test func(float64) bool, by float64) func(*Call, *Result) {
	return func(_ *Call, r *Result) {
		each(r, func(o *Output) {
			for i := range o.Len() {
				if test(ndarray.GetFloat(o.DType, o.Data, i)) {
					ndarray.PutFloat(o.DType, o.Data, i, by)
				}
			}
		})
	}
}

func refuse(short string) func(*Call) (*Result, error) {
	return func(call *Call) (*Result, error) {
		if x(call).DType.Short == short {
			return &Result{Error: &CallError{Class: "TypeError", Text: "no " + short}}, nil
		}
		return nil, nil
	}
}

// accept computes although an input has a dtype that the definition forbids.
func accept(short string) func(*Call) (*Result, error) {
	return func(call *Call) (*Result, error) {
		if x(call) != nil && x(call).DType.Short == short {
			return &Result{Outputs: make([]Output, 1)}, nil
		}
		return nil, nil
	}
}

func promote(_ *Call, r *Result) {
	each(r, func(o *Output) { o.Array = ndarray.FromFloats(lookup("f64"), o.Shape, o.Floats()) })
}

// unwritten leaves an element of the given memory as it was.
func unwritten(call *Call, r *Result) {
	if call.Out != nil && r.Error == nil {
		ndarray.PutFloat(r.Outputs[0].DType, r.Outputs[0].Data, 0, math.NaN())
	}
}

// scribble changes a byte of the memory around an output; -1 is the last.
func scribble(call *Call, r *Result, at int) {
	if call.Out == nil || r.Error != nil {
		return
	}
	memory := r.Buffers[len(r.Buffers)-1]
	memory[(at+len(memory))%len(memory)] ^= 1
}

// densely reads every input as if its memory had no gaps.
func densely(call *Call) (*Result, error) {
	wrong := call.clone()
	for i, in := range call.Inputs {
		if t, ok := in.(*Tensor); ok && !t.IsDense() {
			memory := bytes.Clone(t.Data)
			for int64(len(memory)) < t.Len()*ndarray.ItemSize(t.DType) {
				memory = append(memory, 0)
			}
			a, err := ndarray.Of(t.DType, t.Shape, memory[:t.Len()*ndarray.ItemSize(t.DType)])
			if err != nil {
				return nil, err
			}
			wrong.Inputs[i] = &Tensor{Array: a}
		}
	}
	return (&fake{name: "fake"}).answer(wrong), nil
}
