package run

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/sharding"
	"github.com/opcast/opcast/conformance/internal/checks/values"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// Samples are found on both sides of a condition of a kernel, wherever in the range of an attribute it changes.
func TestMeetingConditionsOnAttrs(t *testing.T) {
	const (
		x = `  { name = "x", type = "f32[N]", doc = "An input." },` + "\n"
		y = `outputs = [{ name = "y", type = "f32[N]", doc = "A result." }]`
	)
	attrs := `  { name = "f", type = "float", default = 0.5, doc = "A factor." },
  { name = "n", type = "int", default = 3, min = 0, max = 99, doc = "A number." },
  { name = "m", type = "str", one_of = ["one", "two"], default = "one", doc = "A choice." },
`
	op := written(t, x, attrs, y)
	for _, text := range []string{"f <= 1", "f > 0.25", "n > 2", "n != 41", "n % 50 == 49", "m == 'two'", "N % 64 == 0", "not m == 'one'"} {
		for _, condition := range []*expr.Expr{condition(t, text), condition(t, "not ("+text+")")} {
			p := cases.BasePlan(cases.DTypes{})
			p.When = condition
			c, err := cases.Meeting(op, p)
			if err != nil {
				t.Errorf("%s: %v", condition.Text, err)
			} else if c.EvalCondition(condition) != expr.KnownTrue {
				t.Errorf("%s: not met by %s", condition.Text, c.Name)
			}
		}
	}
}

// A predicate of an author is tried with sizes that most like.
func TestPredicatesGetRoundSizes(t *testing.T) {
	const (
		x = `  { name = "x", type = "f32[N]", doc = "An input." },` + "\n"
		y = `outputs = [{ name = "y", type = "f32[N]", doc = "A result." }]` + "\n"
	)
	for rest, want := range map[string]bool{"": false, "[[kernels]]\nname = \"made\"\ndevice = \"cpu\"\nsupported = true\n": true} {
		text := y + "reference = \"return 1\"\n" + rest
		op := writtenAs(t, x, "", text)
		round := slices.ContainsFunc(cases.ValuePlans(op, cases.DTypes{}), func(p cases.Plan) bool { return p.Sizes["N"] == 64 })
		if round != want {
			t.Errorf("%s: got %v", rest, round)
		}
	}
}

// A call that has nothing to write starts no kernel, and so needs no scratch.
func TestEmptyCallsNeedNoScratch(t *testing.T) {
	x := `  { name = "x", type = "f32[N]", doc = "An input." },` + "\n"
	for dim, want := range map[string]bool{"N": true, "0": false} {
		op := written(t, x, "", `outputs = [{ name = "y", type = "f32[`+dim+`]", doc = "A result." }]`+"\nscratch = [{ name = \"s\", type = \"u8[N]\" }]")
		c, err := cases.New(op, cases.BasePlan(cases.DTypes{}))
		if err != nil {
			t.Fatal(err)
		}
		changes, err := invalid.Scratch(c, calls.StubCaller{CallerName: calls.BackendName}, "cpu")
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(changes, func(f invalid.Change) bool { return f.Kind == "scratch missing" }); got != want {
			t.Errorf("output of %s: asked for scratch %v, want %v", dim, got, want)
		}
	}
}

// A whole number for a float attribute may choose other dims than the attribute's default: the call has these.
func TestWholeNumbersChooseDims(t *testing.T) {
	x := `  { name = "x", type = "f32[N if f <= 1 else M, M if f <= 1 else N]", doc = "An input." },` + "\n"
	f := `  { name = "f", type = "float", default = 2, min = 0, doc = "A choice." },` + "\n"
	op := written(t, x, f, `outputs = [{ name = "y", type = "f32[N]", doc = "A result." }]`)
	caller := &fake.Framework{CallerName: calls.BackendName, Before: zeros}
	one := &check.T{Ctx: t.Context(), Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Callers: []calls.Caller{caller}}, Op: op, Caller: caller}
	if err := values.CheckDefaults(one); err != nil || len(one.CurrentRow().Failures) > 0 || one.CurrentRow().Checked < 2 {
		t.Errorf("%v, %+v", err, one.CurrentRow())
	}
}

// zeros is a backend that refuses what the rules refuse, and else gives zeros.
func zeros(call *calls.Call) (*calls.Result, error) {
	r := &calls.Result{}
	for _, x := range call.Tensors() {
		r.Buffers = append(r.Buffers, slices.Clone(x.Data))
		r.Spans = append(r.Spans, [2]uint64{})
	}
	if e := invalid.ExpectedError(rule.Compile(call.Op), call, calls.StubCaller{CallerName: calls.BackendName}, "cpu"); e != nil {
		r.Error = &calls.CallError{Class: e.Class, Text: e.Text}
		return r, nil
	}
	for i, y := range call.Out {
		clear(r.Buffers[call.TensorIndex(y)])
		array := ndarray.New(y.DType, y.Shape)
		r.Outputs = append(r.Outputs, calls.Output{Array: array, Strides: array.Strides, Device: "cpu", OutIndex: i, ArgumentIndex: -1})
	}
	return r, nil
}

// What a kernel declines of its own accord is not compared with what frameworks make of it. Compiled code may put its own
// class, and a status, before ours.
func TestDeclinedCallsAreNotCompared(t *testing.T) {
	t.Run("plain", func(t *testing.T) { declined(t, func(*calls.CallError) {}) })
	t.Run("compiled", func(t *testing.T) {
		declined(t, func(e *calls.CallError) { e.Class, e.Text = "ValueError", "UNIMPLEMENTED: "+e.Class+": "+e.Text })
	})
}

func declined(t *testing.T, wrap func(*calls.CallError)) {
	t.Helper()
	op := raggedWith(t, "plain", func(k *opdef.Kernel) { k.Supported = true })
	refuse := refuseAll("plain", "needs luck")
	caller := &fake.Framework{CallerName: calls.BackendName, After: func(call *calls.Call, r *calls.Result) {
		refuse(call, r)
		wrap(r.Error)
	}}
	one := &check.T{Ctx: t.Context(), Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Callers: []calls.Caller{caller}}, Op: op, Caller: caller}
	one.StartRow("plain", "")
	c, err := cases.New(op, cases.BasePlan(cases.DTypes{"T": "f32"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transformed.BareCall(one, c); err == nil || check.Proceed(err) != nil || one.CurrentRow().Unsupported != "needs luck" {
		t.Errorf("got %v, unsupported %q", err, one.CurrentRow().Unsupported)
	}
}

// Every device may have all of an array without elements.
func TestPartsOfEmptyArrays(t *testing.T) {
	for _, c := range []struct {
		got, want []int64
		part      bool
	}{{[]int64{4, 3}, []int64{4, 3}, true}, {[]int64{8, 3}, []int64{4, 3}, false}, {[]int64{8, 0}, []int64{4, 0}, true}, {[]int64{8, 0}, []int64{4, 3}, false}} {
		if sharding.IsPart(c.got, c.want) != c.part {
			t.Errorf("%v of %v: want %v", c.got, c.want, c.part)
		}
	}
}

// A kernel that takes no part of a call is not asked for it, and gets sizes of which it takes the parts.
func TestSplitKeepsToTheKernel(t *testing.T) {
	x := `  { name = "x", type = "f32[N]", doc = "An input." },` + "\n"
	rest := `outputs = [{ name = "y", type = "f32[N]", doc = "A result." }]` + "\nparallel = [\"N\"]\nreference = \"return x\"\n"
	for when, want := range map[string]int{"N % 4 == 0": 4, "N < 8": 3, "N == 8": 1, "N == 32": 2} {
		op := writtenAs(t, x, "", rest+"[[kernels]]\nname = \"some\"\ndevice = \"cpu\"\nwhen = \""+when+"\"\n[[kernels]]\nname = \"made\"\ndevice = \"cpu\"\n")
		made := 0
		caller := &fake.Framework{CallerName: calls.BackendName, Before: func(call *calls.Call) (*calls.Result, error) {
			if n, _ := call.Inputs[0].(*calls.Tensor); call.Kernel == "some" {
				made++
				c := &cases.Case{Op: op, Sizes: map[string]int64{"N": n.Shape[0]}}
				if c.Acceptance(&op.Kernels[0]) == expr.KnownFalse {
					return &calls.Result{Error: &calls.CallError{Class: "NotImplementedError", Text: "made: no kernel takes this call"}}, nil
				}
			}
			return zeros(call)
		}}
		one := &check.T{Ctx: t.Context(), Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Callers: []calls.Caller{caller}}, Op: op, Caller: caller}
		if err := values.CheckSplit(one); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		for _, r := range one.Rows {
			if len(r.Failures) > 0 {
				t.Errorf("%s: %s: %v", when, r.Kernel, r.Failures)
			}
		}
		if made != want {
			t.Errorf("%s: %d calls of the kernel, want %d", when, made, want)
		}
	}
}
