package run

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/agreement"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/system/rpc"
)

// A perfect framework fails no check, and each check finds something to do with some toy; else it asks for too much.
func TestPerfectCallerPasses(t *testing.T) {
	for _, c := range Checks() {
		elsewhere := []string{"gradient", "tangent", "independent", "samples", "properties", "abi", "no-kernel", "params", "working-memory"}
		if slices.Contains(elsewhere, c.ID) || c.Group == check.GroupTransform || c.Through == check.ThroughFunctions {
			continue // what authors write in Python is judged by Python, in tests of their own; a toy cannot be transformed, is no function, has no kernel with parameters and no process
		}
		passed := false
		callers := []string{"fake", calls.BackendName, "jax", calls.NativeName, calls.OpCallName}
		if c.Profile == check.ProfileExtended {
			callers = callers[:1] // which take long, and differ from checks of the core profile by numbers of calls
		}
		for i, op := range []string{"affine", "accumulate", "norm", "norm_backward", "ragged", "join", "gather", "counts", "move"} {
			for j, name := range callers {
				if testing.Short() && j > 0 && j-1 != i%(len(callers)-1) {
					continue // each of the other callers has two of the ops
				}
				if testing.Short() && slices.Contains([]string{"long-dims-more", "many-inputs-more"}, c.ID) && op != "ragged" {
					continue // a toy takes seconds for 2^20 elements, or for 1,000 calls
				}
				for line := range strings.Lines(fakeRunOf(t, op, c.ID, &fake.Framework{CallerName: name}, nil)) {
					passed = passed || strings.HasPrefix(line, "pass")
					if !strings.HasPrefix(line, "pass") && !strings.HasPrefix(line, "skip") && !strings.HasPrefix(line, "unsupported") {
						t.Errorf("%s, %s, %s: %s", c.ID, op, name, line)
					}
				}
			}
		}
		if !passed {
			t.Errorf("%s: passes for no toy", c.ID)
		}
	}
}

func x(call *calls.Call) *calls.Tensor {
	x, _ := call.Inputs[0].(*calls.Tensor)
	return x
}

// when nudges the results of the calls that a test accepts.
func when(test func(call *calls.Call) bool) func(*calls.Call, *calls.Result) {
	return func(call *calls.Call, r *calls.Result) {
		if r.Error == nil && test(call) {
			fake.Nudge(r)
		}
	}
}

// planted holds mutants of the fake framework, each with the checks that must fail.
var planted = map[string]struct {
	checks string
	fake   fake.Framework
}{
	"results are off":            {"value attrs rank sizes bits denormals", fake.Framework{After: when(func(*calls.Call) bool { return true })}},
	"a bias is dropped":          {"value", fake.Framework{After: when(func(c *calls.Call) bool { return c.Inputs[2] != nil })}},
	"an absent bias is not zero": {"optional", fake.Framework{After: when(func(c *calls.Call) bool { return c.Inputs[2] == nil })}},
	"an explicit default counts": {"defaults", fake.Framework{After: when(func(c *calls.Call) bool { return len(c.Attrs) > 0 })}},
	"integers are truncated": {"defaults", fake.Framework{After: when(func(c *calls.Call) bool {
		_, isInt := c.Attrs["alpha"].(int64)
		return isInt
	})}},
	"a choice is ignored":    {"attrs", fake.Framework{After: when(func(c *calls.Call) bool { return c.Attrs["mode"] == "relu" })}},
	"places are mixed up":    {"keywords", fake.Framework{After: when(func(c *calls.Call) bool { return c.Style == calls.InOrder })}},
	"keywords are mixed up":  {"keywords", fake.Framework{After: when(func(c *calls.Call) bool { return c.Style == calls.Reversed })}},
	"neighbours matter":      {"split", fake.Framework{After: when(func(c *calls.Call) bool { return x(c).Shape[0] == 3 })}},
	"a tail is missed":       {"sizes", fake.Framework{After: when(func(c *calls.Call) bool { return x(c).Shape[x(c).Rank()-1] == 129 })}},
	"rank 1 is special":      {"rank", fake.Framework{After: when(func(c *calls.Call) bool { return x(c).Rank() == 1 })}},
	"NaN is lost":            {"special-values", fake.Framework{After: replace(math.IsNaN, 0)}},
	"denormals are flushed":  {"magnitudes denormals", fake.Framework{After: replace(func(v float64) bool { return math.Abs(v) < 1e-37 }, 0)}},
	"large numbers overflow": {"magnitudes", fake.Framework{After: replace(func(v float64) bool { return math.Abs(v) > 1e8 }, math.Inf(1))}},
	"float16 is missing":     {"dtype-combinations", fake.Framework{Before: refuse("f16")}},
	"float64 is accepted":    {"dtype-refused", fake.Framework{Before: accept("f64")}},
	"the dtype is promoted":  {"shape dtype-combinations", fake.Framework{After: promote}},
	"an axis is added": {"shape", fake.Framework{After: func(_ *calls.Call, r *calls.Result) {
		each(r, func(o *calls.Output) { o.Shape = append([]int64{1}, o.Shape...) })
	}}},
	"results are strided": {"shape", fake.Framework{After: func(_ *calls.Call, r *calls.Result) {
		each(r, func(o *calls.Output) { o.Strides = slices.Repeat([]int64{2}, o.Rank()) })
	}}},
	"the framework computes": {"shape bits", fake.Framework{After: func(_ *calls.Call, r *calls.Result) { r.Launches = 0 }}},
	"empty calls launch":     {"zero-size", fake.Framework{After: func(_ *calls.Call, r *calls.Result) { r.Launches = 1 }}},
	"inputs are changed":     {"inputs-unchanged", fake.Framework{After: func(_ *calls.Call, r *calls.Result) { r.Buffers[1][0] ^= 1 }}},
	"one buffer for all calls": {"fresh-outputs", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if c.Probe == check.GroupWatch+".kept" {
			r.Notes["changed"] = []any{0.0}
		}
	}}},
	"a result is a view":        {"fresh-outputs", fake.Framework{After: func(_ *calls.Call, r *calls.Result) { each(r, func(o *calls.Output) { o.Span = r.Spans[0] }) }}},
	"out is ignored":            {"out", fake.Framework{After: func(_ *calls.Call, r *calls.Result) { each(r, func(o *calls.Output) { o.OutIndex = -1 }) }}},
	"an element is not written": {"out", fake.Framework{After: unwritten}},
	"a byte before is written":  {"out", fake.Framework{After: func(c *calls.Call, r *calls.Result) { scribble(c, r, 0) }}},
	"a byte after is written":   {"out", fake.Framework{After: func(c *calls.Call, r *calls.Result) { scribble(c, r, -1) }}},
	"strides are ignored":       {"transposed sliced stepped expanded reversed", fake.Framework{Before: densely}},
	"a text differs": {"errors error-agreement precedence", fake.Framework{After: func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil {
			r.Error.Text += "."
		}
	}}},
	"a class differs": {"errors error-agreement", fake.Framework{After: func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil && r.Error.Class == "TypeError" {
			r.Error.Class = "RuntimeError"
		}
	}}},
	"unknown arguments pass": {"call-shape", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if c.Extra != nil {
			return &calls.Result{}, nil
		}
		return nil, nil
	}}},
	"an error writes": {"side-effects", fake.Framework{After: func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil {
			r.Buffers[0][0] ^= 1
		}
	}}},
	"an error launches": {"side-effects", fake.Framework{After: func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil {
			r.Launches = 1
		}
	}}},
	"a strange array crashes": {"special-inputs", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if c.Probe != "" {
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		return nil, nil
	}}},
	"a strange array is wrong": {"special-inputs", fake.Framework{After: when(func(c *calls.Call) bool { return c.Probe != "" })}},
	"a strange array raises": {"special-inputs", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if c.Probe != "" {
			r.Error = &calls.CallError{Class: "RuntimeError", Text: "no"}
		}
	}}},
	"the default stream runs": {"side-stream graph", fake.Framework{After: when(func(c *calls.Call) bool { return strings.HasPrefix(c.Probe, agreement.GroupStreamProbes) })}},
	"another stream disagrees": {"two-streams graph", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if strings.HasPrefix(c.Probe, agreement.GroupStreamProbes) {
			r.Notes = map[string]any{"the other stream agrees": false}
		}
	}}},
	"a default differs":      {"signature", fake.Framework{About: func(d *calls.Description) { d.Parameters[3].Default["float"] = "2.0" }}},
	"parameters are swapped": {"signature", fake.Framework{About: func(d *calls.Description) { d.Parameters[0], d.Parameters[1] = d.Parameters[1], d.Parameters[0] }}},
	"an attr is positional":  {"signature", fake.Framework{About: func(d *calls.Description) { d.Parameters[4].Keyword = false }}},
	"the doc is old":         {"signature", fake.Framework{About: func(d *calls.Description) { d.Doc = "Something." }}},
	"an op is missing":       {"signature", fake.Framework{About: func(d *calls.Description) { d.Public = d.Public[:1] }}},
}

func TestPlantedErrorsAreFound(t *testing.T) {
	for name, mistake := range planted {
		t.Run(name, func(t *testing.T) {
			for id := range strings.FieldsSeq(mistake.checks) {
				caller := mistake.fake
				caller.CallerName = "fake"
				if status := fakeRun(t, id, &caller, nil); !strings.Contains(status, "fail: ") {
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}

func TestPlantedErrorsAroundTheCaller(t *testing.T) {
	for name, test := range map[string]struct {
		check  string
		change func(*check.Environment)
	}{
		"a chain copies":   {"chain", func(e *check.Environment) { e.Chain.(*fakeChain).copies = true }},
		"a chain is wrong": {"chain", func(e *check.Environment) { e.Chain.(*fakeChain).wrongResults = true }},
		"generated files stale": {"up-to-date", func(e *check.Environment) {
			e.StaleFiles = func(context.Context) ([]string, error) { return []string{"a.py"}, nil }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if status := fakeRun(t, test.check, &fake.Framework{CallerName: "fake"}, test.change); !strings.HasPrefix(status, "fail: ") {
				t.Error(status)
			}
		})
	}
}

func each(r *calls.Result, change func(*calls.Output)) {
	for i := range r.Outputs {
		change(&r.Outputs[i])
	}
}

// replace changes the elements that a test accepts.
func replace(test func(float64) bool, by float64) func(*calls.Call, *calls.Result) {
	return func(_ *calls.Call, r *calls.Result) {
		each(r, func(o *calls.Output) {
			for i := range o.Len() {
				if test(ndarray.GetFloat(o.DType, o.Data, i)) {
					ndarray.PutFloat(o.DType, o.Data, i, by)
				}
			}
		})
	}
}

func refuse(short string) func(*calls.Call) (*calls.Result, error) {
	return func(call *calls.Call) (*calls.Result, error) {
		if x(call).DType.Short == short {
			return &calls.Result{Error: &calls.CallError{Class: "TypeError", Text: "no " + short}}, nil
		}
		return nil, nil
	}
}

// accept computes although an input has a dtype that the definition forbids.
func accept(short string) func(*calls.Call) (*calls.Result, error) {
	return func(call *calls.Call) (*calls.Result, error) {
		if x(call) != nil && x(call).DType.Short == short {
			return &calls.Result{Outputs: make([]calls.Output, 1)}, nil
		}
		return nil, nil
	}
}

func promote(_ *calls.Call, r *calls.Result) {
	each(r, func(o *calls.Output) { o.Array = ndarray.FromFloats(dtype.Must("f64"), o.Shape, o.Floats()) })
}

// unwritten leaves an element of the given memory as it was.
func unwritten(call *calls.Call, r *calls.Result) {
	if call.Out != nil && r.Error == nil {
		ndarray.PutFloat(r.Outputs[0].DType, r.Outputs[0].Data, 0, math.NaN())
	}
}

// scribble changes a byte of the memory around an output; -1 is the last.
func scribble(call *calls.Call, r *calls.Result, at int) {
	if call.Out == nil || r.Error != nil {
		return
	}
	memory := r.Buffers[len(r.Buffers)-1]
	memory[(at+len(memory))%len(memory)] ^= 1
}

// densely reads every input as if its memory had no gaps.
func densely(call *calls.Call) (*calls.Result, error) {
	wrong := call.Clone()
	for i, in := range call.Inputs {
		if t, ok := in.(*calls.Tensor); ok && !t.IsDense() {
			memory := bytes.Clone(t.Data)
			for int64(len(memory)) < t.Len()*ndarray.ItemSize(t.DType) {
				memory = append(memory, 0)
			}
			a, err := ndarray.Of(t.DType, t.Shape, memory[:t.Len()*ndarray.ItemSize(t.DType)])
			if err != nil {
				return nil, err
			}
			wrong.Inputs[i] = &calls.Tensor{Array: a}
		}
	}
	return (&fake.Framework{CallerName: "fake"}).Answer(wrong), nil
}
