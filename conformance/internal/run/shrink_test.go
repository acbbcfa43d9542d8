package run

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/progress"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/results/report"
)

func TestFalsify(t *testing.T) {
	var seen []int
	run := func(seed uint64, limit int) (random.SearchResult, int) {
		last := -1
		found, err := random.Falsify(fmt.Sprint(seed), 100, func(c *random.Choices) (bool, bool) {
			n := int(c.UpTo(1000))
			seen = append(seen, n)
			if n >= limit {
				last = n
			}
			return n < limit, true
		})
		if err != nil {
			t.Fatal(err)
		}
		return found, last
	}
	if found, _ := run(1, 2000); found.Failed || found.Tried != 100 {
		t.Errorf("a property that holds: %+v", found)
	}
	if found, smallest := run(1, 7); !found.Failed || smallest != 7 {
		t.Errorf("the smallest failing example is %d of %+v, want 7", smallest, found)
	}
	seen = nil
	run(5, 2000)
	first := seen
	seen = nil
	run(5, 2000)
	if len(first) != len(seen) || first[3] != seen[3] || first[50] != seen[50] {
		t.Error("one seed gives two sequences")
	}
	if _, err := random.Falsify("1", 10, func(*random.Choices) (bool, bool) { panic("broken suite") }); err == nil || !strings.Contains(err.Error(), "broken suite") {
		t.Errorf("a panic gives %v", err)
	}
}

// A call that fails once, as one with a race may, is told as it failed.
func TestRandomShapesFailOnce(t *testing.T) {
	failed := false
	once := &fake.Framework{CallerName: "fake", After: func(_ *calls.Call, r *calls.Result) {
		if !failed && r.Error == nil {
			failed = true
			fake.Nudge(r)
		}
	}}
	if got := fakeRunOf(t, "affine", "random-shapes", once, nil); !strings.Contains(got, "and not when it was repeated: random shapes") {
		t.Error(got)
	}
}

// A call that fails is reported with the smallest sizes that fail, and with the seed.
func TestRandomShapesShrink(t *testing.T) {
	wrong := &fake.Framework{CallerName: "fake", After: func(call *calls.Call, r *calls.Result) {
		if x, ok := call.Inputs[0].(*calls.Tensor); ok && r.Error == nil && x.Rank() > 0 && x.Shape[x.Rank()-1] >= 11 && x.Len() > 0 {
			fake.Nudge(r)
		}
	}}
	s := &Runner{Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Seed: 3, Callers: []calls.Caller{&fake.Framework{CallerName: calls.BackendName}, wrong}}}
	for _, check := range random.Checks() {
		if check.ID != "random-shapes" {
			continue
		}
		results := s.run(t.Context(), fake.ToyOp(t, "affine"), wrong, &check)
		r := results[0]
		if len(results) != 1 || r.Status != report.Fail || r.Seed != "3" || r.DType == "" {
			t.Fatalf("got %+v", results)
		}
		if !strings.Contains(r.Reason, "* = [], N = 11") && !strings.Contains(r.Reason, "* = [1], N = 11") {
			t.Errorf("not the smallest call: %s", r.Reason)
		}
	}
}

// An oracle that breaks ends the check with its error.
func TestRandomShapesBroken(t *testing.T) {
	broken := &fake.Framework{CallerName: "fake", Before: func(*calls.Call) (*calls.Result, error) { return nil, errors.New("no connection") }}
	if got := fakeRun(t, "random-shapes", broken, nil); !strings.HasPrefix(got, "error: random shapes: no connection") {
		t.Errorf("got %s", got)
	}
}

func TestErrorBin(t *testing.T) {
	for ulps, want := range map[float64]int{0: 0, 1e-30: 1, 0.5: 1, 0.51: 2, 1: 2, 1.01: 3, 2: 3, 4: 4, 4096: 14, 4097: 15, 1e300: 15} {
		if got := oracle.ErrorBin(ulps); got != want {
			t.Errorf("%v ulp are in bin %d, want %d", ulps, got, want)
		}
	}
}

// Every result counts; the worst element is that which comes closest to its tolerance.
func TestMeasured(t *testing.T) {
	m := &oracle.ErrorHistograms{At: map[oracle.HistogramKey]*report.ULPs{}}
	f16, _ := dtype.Lookup("f16")
	bound := oracle.Tolerance{ULPs: 1}
	key := oracle.HistogramKey{Op: "affine", Adaptor: "fake", Kernel: "", DTypes: "T = float16", Output: "y"}
	for _, got := range [][]float64{{1, 2, 3}, {1, 2 + 1.0/512, 4}} {
		a := ndarray.FromFloats(f16, []int64{3}, got)
		found := oracle.Inspect(a, oracle.Expected{Shape: []int64{3}, Values: []float64{1, 2, 3}}, nil, bound)
		m.Add(key, a, &found, bound)
	}
	list := m.Results()
	if len(list) != 1 || list[0].Bins[0] != 4 || list[0].Bins[2] != 1 || list[0].Bins[11] != 1 {
		t.Fatalf("got %+v", list)
	}
	if u := list[0]; u.Index[0] != 2 || u.Got != "4" || u.Want != "3" || u.Worst != 512 || u.Share != 512 || u.Allowed != "1 ulp" {
		t.Errorf("the worst is %+v", u)
	}
	want := "error of affine, fake (T = float16): 512 ulp, 5.12e+04 % of the allowed 1 ulp: y[2] is 4 for 3"
	if lines := progress.WorstErrors(list); len(lines) != 1 || lines[0] != want {
		t.Errorf("got %q", lines)
	}
}

func TestElements(t *testing.T) {
	for _, test := range []struct {
		shape []int64
		want  int64
	}{
		{nil, 1}, {[]int64{2, 3}, 6}, {[]int64{1 << 40, 1 << 40, 0}, 0},
		{[]int64{1 << 40, 1 << 40}, math.MaxInt64}, {[]int64{math.MaxInt64, 1}, math.MaxInt64},
	} {
		if got := cases.Elements(test.shape); got != test.want {
			t.Errorf("%v has %d elements, want %d", test.shape, got, test.want)
		}
	}
}

// A random call is small, whatever was drawn.
func TestSketchesAreSmall(t *testing.T) {
	check := &check.T{Env: &check.Environment{Device: "cpu"}, Op: fake.ToyOp(t, "affine"), Caller: calls.Definition{}}
	found, err := random.Falsify("1", 300, func(c *random.Choices) (bool, bool) {
		s := random.DrawCandidate(check, c)
		if s == nil {
			return true, false
		}
		total := int64(0)
		for _, in := range s.C.Inputs {
			if in != nil {
				total = max(total, in.Len())
			}
		}
		return total <= random.ShapesElements, true
	})
	if err != nil || found.Failed || found.Tried < 300 {
		t.Errorf("%+v, %v", found, err)
	}
}
