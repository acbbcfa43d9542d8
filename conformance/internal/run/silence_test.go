package run

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/progress"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/results/report"
)

// A job that hangs ends, with all that it started; one that tells something now and then may take its time.
func TestSilentJob(t *testing.T) {
	s := &publisher{printer: &progress.Printer{Out: io.Discard}}
	began := time.Now()
	err := s.follow(t.Context(), []string{"sh", "-c", "sleep 60; exit 0"}, t.TempDir(), 100*time.Millisecond)
	if err == nil || !errors.Is(err, errStalled) || time.Since(began) > 30*time.Second {
		t.Errorf("after %v: got %v, want %v", time.Since(began), err, errStalled)
	}
	script := `for i in 1 2 3 4 5 6; do echo '{"spec": "a check"}'; sleep 0.4; done`
	if err := s.follow(t.Context(), []string{"sh", "-c", script}, t.TempDir(), 2*time.Second); err != nil {
		t.Errorf("of one that talks: %v", err)
	}
}

// A failure of someone else's function says what was unusual about the call.
func TestAgreesNamesTheCall(t *testing.T) {
	op := fake.Toy(t).Ops[0]
	c, err := cases.New(op, cases.BasePlan(cases.SupportedDTypes(op, "cpu")[0]))
	if err != nil {
		t.Fatal(err)
	}
	want, err := fakeOracle{}.Reference(t.Context(), c, "float64")
	if err != nil {
		t.Fatal(err)
	}
	got := &calls.Result{}
	for i := range want {
		o := ndarray.New(c.Inputs[0].DType, want[i].Shape) // zeros
		got.Outputs = append(got.Outputs, calls.Output{Array: o})
	}
	for _, f := range []*check.ForeignCode{nil, {}} {
		judge := &check.T{Ctx: t.Context(), Op: op, Caller: &fake.Framework{CallerName: "fake"}, Env: &check.Environment{
			Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Foreign: f, Errors: &oracle.ErrorHistograms{At: map[oracle.HistogramKey]*report.ULPs{}},
		}}
		other := &calls.Result{}
		for i := range want {
			array := ndarray.New(c.Inputs[0].DType, want[i].Shape)
			for k := range array.Data {
				array.Data[k] = 0x3f
			}
			other.Outputs = append(other.Outputs, calls.Output{Array: array})
		}
		judge.StartRow("", c.DTypes.String())
		if err := judge.ExpectBitsOrReference(calls.New(c), c, "byte_swapped, "+c.Name, got, other); err != nil {
			t.Fatal(err)
		}
		if text := judge.Results(&check.Check{ID: "special-inputs"}, nil)[0].Reason; !strings.Contains(text, "byte_swapped, ") {
			t.Errorf("foreign %v: got %q", f, text)
		}
	}
}
