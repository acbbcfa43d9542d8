package conformance

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/report"
)

// A job that hangs ends, with all that it started; one that tells something now and then may take its time.
func TestSilentJob(t *testing.T) {
	s := &session{printer: &printer{out: io.Discard}}
	began := time.Now()
	err := s.follow(t.Context(), []string{"sh", "-c", "sleep 60; exit 0"}, t.TempDir(), 100*time.Millisecond)
	if err == nil || !errors.Is(err, errSilent) || time.Since(began) > 30*time.Second {
		t.Errorf("after %v: got %v, want %v", time.Since(began), err, errSilent)
	}
	script := `for i in 1 2 3 4 5 6; do echo '{"spec": "a check"}'; sleep 0.4; done`
	if err := s.follow(t.Context(), []string{"sh", "-c", script}, t.TempDir(), 2*time.Second); err != nil {
		t.Errorf("of one that talks: %v", err)
	}
}

// A failure of someone else's function says what was unusual about the call.
func TestAgreesNamesTheCall(t *testing.T) {
	op := toy(t).Ops[0]
	c, err := newCase(op, base(combinations(op, "cpu")[0]))
	if err != nil {
		t.Fatal(err)
	}
	want, err := fakeOracle{}.Reference(t.Context(), c, "float64")
	if err != nil {
		t.Fatal(err)
	}
	got := &Result{}
	for i := range want {
		o := ndarray.New(c.Inputs[0].DType, want[i].Shape) // zeros
		got.Outputs = append(got.Outputs, Output{Array: o})
	}
	for _, f := range []*foreign{nil, {}} {
		judge := &T{ctx: t.Context(), Op: op, Caller: &fake{name: "fake"}, env: &environment{
			project: toy(t), device: "cpu", oracle: fakeOracle{}, foreign: f, ulps: &measured{at: map[measuredKey]*report.ULPs{}},
		}}
		other := &Result{}
		for i := range want {
			array := ndarray.New(c.Inputs[0].DType, want[i].Shape)
			for k := range array.Data {
				array.Data[k] = 0x3f
			}
			other.Outputs = append(other.Outputs, Output{Array: array})
		}
		judge.Row("", c.DTypes.String())
		if err := judge.agrees(newCall(c), c, "byte_swapped, "+c.Name, got, other); err != nil {
			t.Fatal(err)
		}
		if text := judge.results(&Check{ID: "special-inputs"}, nil)[0].Reason; !strings.Contains(text, "byte_swapped, ") {
			t.Errorf("foreign %v: got %q", f, text)
		}
	}
}
