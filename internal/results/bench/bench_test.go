package bench_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/bench"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []float64
		want    bench.Spread
	}{
		{"one sample", []float64{7}, bench.Spread{Low: 7, Median: 7, High: 7}},
		{"an odd number, in any order", []float64{5, 1, 4, 2, 3}, bench.Spread{Low: 2, Median: 3, High: 4}},
		{"between neighbours", []float64{1, 2, 3, 4}, bench.Spread{Low: 1.75, Median: 2.5, High: 3.25}},
	} {
		if got := bench.SpreadOf(c.samples); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	if got, want := (bench.Spread{Low: 1, Median: 2, High: 4}).Inverse(8), (bench.Spread{Low: 2, Median: 4, High: 8}); got != want {
		t.Errorf("inverse: got %v, want %v", got, want)
	}
}

// A machine that is half as fast in one round changes times and not their ratios.
func TestRatios(t *testing.T) {
	ours, theirs := []float64{10, 20, 10}, []float64{30, 60, 30}
	if got, want := bench.Ratios(theirs, ours), (bench.Spread{Low: 3, Median: 3, High: 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := bench.Ratios(theirs[:1], ours); got.Median != 3 {
		t.Errorf("of one round: got %v", got)
	}
}

func TestNumbers(t *testing.T) {
	for ns, want := range map[float64]string{
		3: "3.00 ns", 999.9: "1.00 µs", 12_345: "12.3 µs", 999_960: "1.00 ms", 4.567e6: "4.57 ms", 2e9: "2.00 s", 1.5e11: "150 s", 0.25: "0.250 ns",
	} {
		if got := bench.Duration(ns); got != want {
			t.Errorf("%v: got %s, want %s", ns, got, want)
		}
	}
	if got, want := (bench.Spread{Low: 900, Median: 1100, High: 12_000}).Quartiles(), "0.900-12.0 µs"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for v, want := range map[float64]string{0: "0", 9.996: "10.0", 99.96: "100", 0.0123: "0.0123", 1234.5: "1234"} {
		if got := bench.Digits(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

func spread(median, part float64) bench.Spread {
	return bench.Spread{Low: median * (1 - part), Median: median, High: median * (1 + part)}
}

func pointer[T any](v T) *T { return &v }

// sample is a result with a row that has three peers, of which one differs, and a row that has none.
func sample() *bench.Result {
	key := bench.Key{Op: "scale", Workload: "model_step", DType: "f32", Caller: "torch", Threads: 1}
	alone := key
	alone.Op, alone.Threads = "gather<b>", 2
	return &bench.Result{
		Schema: bench.Schema, Collection: "demo", Version: "0.1.0", Date: "2026-11-26T10:00:00Z",
		Machine:  bench.Machine{GPU: "NVIDIA H200", CPU: "a CPU, family 6, model 1", CPUs: 2, System: "linux/amd64", Device: "cpu"},
		Versions: map[string]string{"torch": "2.15.0", "Python": "3.11.2"},
		Rows: []bench.Row{
			{
				Key: key, Call: "N = 4096, T = f32", Rounds: 20, Time: spread(2000, 0.02), Copy: spread(20, 0.01), BesideCopy: spread(0.1, 0.02),
				Bytes: pointer[int64](32768), Flops: pointer[int64](8192),
				Peers: []bench.Peer{
					{Name: "slow|one", Time: pointer(spread(9000, 0.1)), Ratio: pointer(spread(4.5, 0.1)), Slow: true},
					{Name: "fast", Time: pointer(spread(1000, 0.01)), Ratio: pointer(spread(0.5, 0.02))},
					{Name: "wrong", Missing: "its results differ by 80.0 times the tolerance, at most 4 times count"},
				},
			},
			{Key: alone, Rounds: 20, Time: spread(3e6, 0.01), Copy: spread(30, 0.01), BesideCopy: spread(2, 0.01), Peers: []bench.Peer{}},
		},
		LeftOut: []bench.LeftOut{
			{Op: "plain", Reason: "the definition has no workloads"}, {Caller: "cupy", Reason: "no device"},
			{Op: "scale", Workload: "model_step", Caller: "jax", Threads: 2, Reason: "ValueError: no", Failed: true},
		},
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	want := `op         workload    dtype  caller  threads  ratio  beside  time     spread        GB/s  GFLOP/s
scale      model_step  f32    torch   1        0.50   fast    2.00 µs  1.96-2.04 µs  16.4  4.10
gather<b>  model_step  f32    torch   2        -      -       3.00 ms  2.97-3.03 ms  -     -
a copy through memory: 20.0 GB/s with 1 thread
a copy through memory: 30.0 GB/s with 2 threads
scale model_step through torch, 1 thread: without wrong: its results differ by 80.0 times the tolerance, at most 4 times count
left out: plain: the definition has no workloads
left out: cupy: no device
left out: scale model_step through jax with 2 threads: ValueError: no
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if !sample().Failed() {
		t.Error("an op that fails is not noticed")
	}
}

func TestMarkdown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	text := "before\n" + bench.Begin + "\nold\n" + bench.End + "\nafter\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := sample()
	r.Rows[0].Peers[1].Name = "a|b"
	if err := r.WriteMarkdown(path, nil); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + bench.Begin + `
On 2026-11-26, NVIDIA H200, a CPU, family 6, model 1, 2 CPUs, Python 3.11.2, torch 2.15.0.
A copy through memory reaches 20.0 GB/s with 1 thread.
A copy through memory reaches 30.0 GB/s with 2 threads.

| op | workload | dtype | caller | threads | ratio | beside | time | spread | GB/s | GFLOP/s |
|---|---|---|---|---|---|---|---|---|---|---|
| scale | model_step | f32 | torch | 1 | 0.50 | a\|b | 2.00 µs | 1.96-2.04 µs | 16.4 | 4.10 |
| gather&lt;b> | model_step | f32 | torch | 2 | - | - | 3.00 ms | 2.97-3.03 ms | - | - |
` + bench.End + "\nafter\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteMarkdown(path, nil); !errors.Is(err, bench.ErrNoPlace) {
		t.Errorf("a page without a place: %v", err)
	}
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "build", "bench")
	if err := sample().WriteFiles(dir, bench.Told{}); err != nil {
		t.Fatal(err)
	}
	got, err := bench.Read(filepath.Join(dir, bench.File))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got); diff != "" {
		t.Error(diff)
	}
	page, err := os.ReadFile(filepath.Join(dir, bench.Page))
	if err != nil || !strings.HasPrefix(string(page), "<!doctype html>") {
		t.Error(err, page)
	}
	for text, want := range map[string]string{"{": "no result", `{"schema": 99}`: "of schema 1: it has schema 99"} {
		path := filepath.Join(dir, "other.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bench.Read(path); !errors.Is(err, bench.ErrNoResult) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := bench.Read(filepath.Join(dir, "nowhere")); !errors.Is(err, bench.ErrNoResult) {
		t.Errorf("a file that is not there: %v", err)
	}
}
