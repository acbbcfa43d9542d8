package run

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// loaded is an op of a project beside the toys.
func loaded(t *testing.T, project, name string) *opdef.Op {
	t.Helper()
	p, findings, err := load.Load(filepath.Join("testdata", project))
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	for _, op := range p.Ops {
		if op.Name == name {
			return op
		}
	}
	t.Fatalf("no op %s", name)
	return nil
}

// The description of a case has lists as definitions write them, and the values of inputs that are single numbers.
func TestCaseNames(t *testing.T) {
	p := cases.BasePlan(cases.DTypes{"T": "f32", "O": "f32"})
	p.Attrs = map[string]any{"stride": []int64{2, 1}}
	c, err := cases.New(fake.Conv(t), p)
	if err != nil || !strings.Contains(c.Name, ", stride = [2, 1], ") {
		t.Errorf("%s, %v", c.Name, err)
	}
	c, err = cases.New(loaded(t, "summed", "summed_first"), cases.BasePlan(cases.DTypes{}))
	if err != nil || !strings.HasSuffix(c.Name, ", first = 2") {
		t.Errorf("%s, %v", c.Name, err)
	}
}

// A failure with negative integers that no range forbids says so; one with others does not.
func TestRangeHint(t *testing.T) {
	for name, test := range map[string]struct {
		op    string
		value float64
		want  bool
	}{
		"negative":    {"summed_anywhere", -1, true},
		"none is":     {"summed_anywhere", 1, false},
		"has a range": {"summed", -1, false},
	} {
		op := loaded(t, "summed", test.op)
		c, err := cases.New(op, cases.BasePlan(cases.DTypes{}))
		if err != nil {
			t.Fatal(err)
		}
		at := c.Inputs[1].Len()
		values := make([]float64, at)
		for i := range values {
			values[i] = test.value
		}
		c = c.With(1, ndarray.FromFloats(dtype.Must("i64"), []int64{at}, values), "")
		judge := &check.T{Ctx: t.Context(), Env: &check.Environment{Device: "cpu"}, Op: op, Caller: &fake.Framework{CallerName: calls.BackendName}}
		want := oracle.Expected{Shape: []int64{1}, Values: []float64{1}}
		judge.CompareOutput(calls.New(c), c, 0, ndarray.FromFloats(dtype.Must("f32"), []int64{1}, []float64{5}), want)
		failures := strings.Join(judge.CurrentRow().Failures, "")
		if !strings.Contains(failures, "got 5") || strings.Contains(failures, "at has negative values here: give it min = 0") != test.want {
			t.Errorf("%s: %q", name, failures)
		}
	}
}
