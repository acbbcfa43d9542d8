package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/bench"
)

// manyRows has rows with and without peers, operations and bytes, and names that must not become markup.
func manyRows() *bench.Result {
	r := sample()
	for i := range 30 {
		row := r.Rows[0]
		row.Workload, row.Threads = fmt.Sprintf("step_%02d", i), 1+i%2
		row.Time = spread(2000*float64(1+i), 0.05)
		row.Flops = pointer(int64(8192) << (i % 8))
		row.Peers = []bench.Peer{{Name: "<img src=x onerror=alert(1)>", Time: pointer(spread(3000, 0.1)), Ratio: pointer(spread(3/float64(1+i), 0.1))}}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// writePage writes the page of a run that is compared with a faster one, and returns its path.
func writePage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	now := slowed(manyRows(), 0, 1.5)
	if err := now.WriteFiles(dir, bench.Told{Compared: now.Since(manyRows())}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, bench.Page)
}

func TestPageText(t *testing.T) {
	data, err := os.ReadFile(writePage(t))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for what, want := range map[string]int{
		`<circle class="dot`: 2 + 30, `<circle class="point`: 31, `<line class="roof"`: 2, "<tr><td>": 32, "<script": 0, "<img": 0, "NaN": 0, "Inf": 0,
		`class="worse"`: 1, "1.50 times as long as before, beside the copy; 1.50 beside fast": 1, `class="dot best slower"`: 1 + 27,
		"gather&lt;b&gt;": 1, "default-src 'none'": 1, "http": 1, "26 November 2026, 10:00 UTC": 1,
	} {
		if got := strings.Count(text, what); got != want {
			t.Errorf("%s: got %d, want %d", what, got, want)
		}
	}
}

// Rows that differ in one size make one plot, in which peers come and go. They are not among the ratios.
func TestPageSweep(t *testing.T) {
	r := sample()
	first := r.Rows[0]
	r.Rows = nil
	for _, n := range []int64{64, 0, 4096} {
		row := first
		row.Workload, row.Swept = fmt.Sprintf("step(N=%d)", n), &bench.Swept{Workload: "step", Size: "N", Value: n}
		if n == 0 {
			row.Peers = nil
		}
		r.Rows = append(r.Rows, row)
	}
	page, err := r.HTML(bench.Told{})
	text := string(page)
	for what, want := range map[string]int{
		`<section class="sweep">`: 1, `<polyline class="curve own"`: 1, `<circle class="point"`: 3 + 3, `id="ratios"`: 0, "N = 0: ": 1, "NaN": 0, "Inf": 0,
	} {
		if got := strings.Count(text, what); err != nil || got != want {
			t.Errorf("%s: got %d, want %d (%v)", what, got, want, err)
		}
	}
}

// A run without peers and without operations has a table and no plots; one without rows has not even that.
func TestPageWithout(t *testing.T) {
	r := sample()
	r.Rows = r.Rows[1:]
	page, err := r.HTML(bench.Told{})
	if text := string(page); err != nil || strings.Contains(text, "<svg") || !strings.Contains(text, "gather&lt;b&gt;") {
		t.Error(err, text)
	}
	r.Rows = nil
	if _, err := r.HTML(bench.Told{Compared: r.Since(sample())}); err != nil {
		t.Error(err)
	}
}
