package timing

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
	"github.com/opcast/opcast/internal/results/bench"
)

// base is a case of an op of the suite's toy collection; lists have two arrays.
func base(t *testing.T, name string) *cases.Case {
	t.Helper()
	op := fake.ToyOp(t, name)
	c, err := cases.New(op, cases.BasePlan(cases.DeclaredDTypes(op)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestJudged(t *testing.T) {
	ours := []float64{10, 20, 10}
	for _, c := range []struct {
		name    string
		peer    peer
		ratio   float64
		missing string
	}{
		{"faster", peer{Name: "p", Distance: "0.5", Samples: []float64{5, 10, 5}}, 0.5, ""},
		{"as far as permitted", peer{Name: "p", Distance: "4.0", Samples: []float64{10, 20, 10}}, 1, ""},
		{"slow", peer{Name: "p", Distance: "0.0", Slow: true, Samples: []float64{100}}, 10, ""},
		{"too far", peer{Name: "p", Distance: "4.25"}, 0, "its results differ by 4.25 times the tolerance, at most 4 times count"},
		{"integers", peer{Name: "p", Distance: "inf"}, 0, "its results differ by infinitely many times the tolerance, at most 4 times count"},
		{"it raised", peer{Name: "p", Error: "ValueError: no"}, 0, "ValueError: no"},
	} {
		got := judged(c.peer, ours)
		if got.Missing != c.missing || (got.Ratio == nil) != (c.missing != "") {
			t.Errorf("%s: got %+v", c.name, got)
		}
		if got.Ratio != nil && math.Abs(got.Ratio.Median-c.ratio) > 1e-9 {
			t.Errorf("%s: got a ratio of %v, want %v", c.name, got.Ratio.Median, c.ratio)
		}
	}
}

// Results are the outputs that are not saved, then what is overwritten; lists have their arrays one by one.
func TestSlots(t *testing.T) {
	for name, want := range map[string]int{"accumulate": 3, "gather": 2 + 1 + 1 + 2} {
		got := slots(base(t, name))
		if len(got) != want {
			t.Errorf("%s: got %d results, want %d", name, len(got), want)
		}
		for i, s := range got {
			if s.Valid != -1 {
				t.Errorf("%s: result %d: rows are counted by %d", name, i, s.Valid)
			}
		}
	}
}

// The names of arguments are those of the definition, also of lists, and every attribute has a value.
func TestRequest(t *testing.T) {
	r := &run{Options: Options{Project: fake.Toy(t), Rounds: 3}}
	q, blobs := r.newRequest(&process{threads: 2}, base(t, "gather"))
	if diff := cmp.Diff([]string{"xs", "totals", "w"}, q.Names); diff != "" {
		t.Error(diff)
	}
	if len(blobs) != 5 || len(q.Args) != 5 || q.Do != "measure" || q.Threads != 2 || q.Farthest != Farthest || q.Text != "" {
		t.Errorf("got %d blobs and %+v", len(blobs), q)
	}
	for _, op := range fake.Toy(t).Ops {
		q, _ := r.newRequest(&process{}, base(t, op.Name))
		if len(q.Attributes) != len(op.Attrs) {
			t.Errorf("%s: got %d attributes, want %d", op.Name, len(q.Attributes), len(op.Attrs))
		}
	}
}

func TestBeginning(t *testing.T) {
	long := base(t, "accumulate").Inputs[0]
	if got := beginning(long); got != long {
		t.Errorf("a short array is looked at as a whole, got %v", got.Shape)
	}
	large := ndarray.New(long.DType, []int64{3, most})
	if got := beginning(large); got.Len() != most || int64(len(got.Data)) != most*ndarray.ItemSize(long.DType) {
		t.Errorf("got %v, %d bytes", got.Shape, len(got.Data))
	}
	if beginning(nil) != nil {
		t.Error("an input that is left out is none")
	}
}

// What a range that depends on a size says of integers, it says of no float.
func TestContentsDecide(t *testing.T) {
	for _, op := range fake.Toy(t).Ops {
		ranged := false
		for _, in := range op.Inputs {
			ranged = ranged || in.Max != nil && len(in.Max.Symbols()) > 0 && in.Type.DType != "" && in.Type.DType[0] == 'i'
		}
		if ranged && !workload.ContentsDecide(op) {
			t.Errorf("%s: an input holds places", op.Name)
		}
	}
	if workload.ContentsDecide(&opdef.Op{}) {
		t.Error("an op without inputs")
	}
}

// Arrays that fill the memory are refused, before some process of the machine has to end.
func TestAffordable(t *testing.T) {
	if err := affordable(1<<20, true); err != nil {
		t.Error(err)
	}
	if err := affordable(3<<30, false); err == nil {
		t.Error("more than can be measured")
	}
	if free, known := available(); known && (free <= 0 || free > 1<<50) {
		t.Errorf("%d bytes are free", free)
	}
}

func TestMachine(t *testing.T) {
	if m := Machine("cpu"); m.CPU == "" || m.CPUs < 1 || m.Device != "cpu" {
		t.Errorf("got %+v", m)
	}
	if text := (bench.Key{Op: "a", Workload: "b", Caller: "c", Threads: 2}).String(); text != "a b through c, 2 threads" {
		t.Error(text)
	}
}
