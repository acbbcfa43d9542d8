package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/definitions"
	"github.com/opcast/opcast/conformance/internal/checks/sharding"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// A let that is a dim of an input has no size of its own that could be chosen.
func TestPlainSizes(t *testing.T) {
	dims := func(text string) []opdef.Dim {
		out := []opdef.Dim{{Star: true}}
		for _, name := range strings.Fields(text) {
			e, err := expr.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, opdef.Dim{Expr: e})
		}
		return out
	}
	op := &opdef.Op{
		Inputs: []opdef.Arg{{Name: "x", Type: opdef.Type{Dims: dims("N 2*D")}}, {Name: "q", Type: opdef.Type{Dims: dims("P k M")}}},
		Attrs:  []opdef.Attr{{Name: "k", Type: "int"}},
		Lets:   []opdef.Let{{Name: "P"}},
	}
	if got := sharding.StandaloneDims(op); !slices.Equal(got, []string{"*", "N", "M"}) {
		t.Errorf("got %v", got)
	}
}

// Every rule of an op with conditions and list attrs is broken by some invalid call, and the messages name the cause.
func TestWrongSizes(t *testing.T) {
	op := fake.Conv(t)
	c, err := cases.New(op, cases.BasePlan(cases.DTypes{"T": "f32", "O": "f32"}))
	if err != nil {
		t.Fatal(err)
	}
	program := rule.Compile(op)
	var texts []string
	for _, f := range invalid.Sizes(c, program) {
		if expected := invalid.ExpectedError(program, f.Apply(calls.New(c)), calls.Definition{}, "cpu"); expected != nil {
			texts = append(texts, expected.Text)
		}
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"expected C % groups == 0", "expected F % groups == 0", "output y would have a negative dimension"} {
		if !strings.Contains(all, want) {
			t.Errorf("no invalid call gives %q, only\n%s", want, all)
		}
	}
	check := &check.T{Ctx: t.Context(), Env: &check.Environment{Project: fake.Toy(t), Device: "cpu"}, Op: op, Caller: calls.Definition{}}
	if err := definitions.CheckFaultCoverage(check); err != nil || len(check.CurrentRow().Failures) > 0 {
		t.Errorf("%v %v", err, check.CurrentRow().Failures)
	}
}

// An attr of any size takes the sizes that depend on it beyond 64 bits.
func TestWrongAttrsOverflow(t *testing.T) {
	op := *fake.Conv(t)
	op.Attrs = slices.Clone(op.Attrs)
	for i := range op.Attrs {
		op.Attrs[i].Max = nil
	}
	op.Requires = append(slices.Clone(op.Requires), condition(t, "2*stride[1] > 0"))
	c, err := cases.New(&op, cases.BasePlan(cases.DTypes{"T": "f32", "O": "f32"}))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range invalid.Attributes(&op, calls.Definition{}) {
		expected := invalid.ExpectedError(rule.Compile(&op), f.Apply(calls.New(c)), calls.Definition{}, "cpu")
		found = found || f.Arg == "stride" && expected != nil && expected.Text == "conv: a size does not fit in 64 bits"
	}
	if !found {
		t.Error("no wrong attr gives a size beyond 64 bits")
	}
}

// A caller of the library passes no dtype attr: the output has the dtype, which need not be the default.
func TestExpectCarriedDType(t *testing.T) {
	op := fake.Conv(t)
	c, err := cases.New(op, cases.BasePlan(cases.DTypes{"T": "f32", "O": "f16"}))
	if err != nil {
		t.Fatal(err)
	}
	call := calls.New(c)
	if call.Out, err = calls.PoisonedOutputs(c, true); err != nil {
		t.Fatal(err)
	}
	delete(call.Attrs, "out_dtype")
	for caller, want := range map[string]string{
		calls.NativeName: "", "numpy": "conv: y: expected dtype float32, got float16",
	} {
		got := ""
		if expected := invalid.ExpectedError(rule.Compile(op), call, &fake.Framework{CallerName: caller}, "cpu"); expected != nil {
			got = expected.Text
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", caller, got, want)
		}
	}
}
