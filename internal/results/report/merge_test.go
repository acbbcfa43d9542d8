package report_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/report"
)

func part(op string, status report.Status, started string) *report.Report {
	return &report.Report{
		Schema: report.Schema, SuiteVersion: "4", Collection: "demo", Device: "cpu", LibrarySHA256: "aa",
		Adaptors: map[string]string{"numpy": "2.4.6", op: ""}, Environment: map[string]string{"cores": "2"},
		Started: started, Seconds: 20,
		Results: []report.Result{
			{Op: "both", Adaptor: "numpy", Group: "Values", Check: "value", Status: status, Reason: op},
			{Op: op, Adaptor: "numpy", Group: "Values", Check: "value", Status: report.Pass},
			{Op: op, Adaptor: "numpy", Group: "Values", Check: "value", Status: report.Pass},
		},
		ULPs: []report.ULPs{
			{Op: "both", Output: "y", Bins: []int64{1, 2}, Worst: 0.5, Got: "less"},
			{Op: op, Output: "y", Bins: []int64{1}},
		},
		Mutants: []report.Mutant{{ID: op}},
		Checks:  []report.Check{{ID: "value", Group: "Values"}, {ID: op, Group: "Shapes"}},
	}
}

func TestMerge(t *testing.T) {
	a := part("add", report.Pass, "2026-01-02T10:00:00Z")
	b := part("scale", report.Fail, "2026-01-02T10:00:05Z")
	b.ULPs[0] = report.ULPs{Op: "both", Output: "y", Bins: []int64{0, 3, 1}, Worst: 7, Got: "more"}
	b.Environment["cores"] = "8"
	b.Adaptors["torch"], b.Device = "2.15", "cpu (a board)"
	got, err := report.Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := &report.Report{
		Schema: report.Schema, SuiteVersion: "4", Collection: "demo", Device: "cpu (a board)", LibrarySHA256: "aa",
		Adaptors:    map[string]string{"add": "", "numpy": "2.4.6", "scale": "", "torch": "2.15"},
		Environment: map[string]string{"cores": "2; 8"}, Started: "2026-01-02T10:00:00Z", Seconds: 25,
		Results: []report.Result{a.Results[1], a.Results[2], b.Results[0], b.Results[1], b.Results[2]},
		Causes:  []report.Cause{{Op: "both", Text: "check value fails", Results: 1, Checks: []string{"value"}, Adaptors: []string{"numpy"}, First: "scale"}},
		ULPs: []report.ULPs{
			a.ULPs[1], {Op: "both", Output: "y", Bins: []int64{1, 5, 1}, Worst: 7, Got: "more"}, b.ULPs[1],
		},
		Mutants: []report.Mutant{{ID: "add"}, {ID: "scale"}},
		Checks:  append(a.Checks, b.Checks[1]),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if a.ULPs[0].Bins[1] != 2 {
		t.Error("a part has changed")
	}
}

func TestMergeRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*report.Report)
		want   string
	}{
		{"library", func(r *report.Report) { r.LibrarySHA256 = "bb" }, `the library is "aa" in one and "bb" in another`},
		{"suite", func(r *report.Report) { r.SuiteVersion = "3" }, `the suite is "4" in one and "3" in another`},
		{"device", func(r *report.Report) { r.Device = "cuda" }, `the device is "cpu" in one`},
		{"adaptor", func(r *report.Report) { r.Adaptors["numpy"] = "1" }, "numpy is 2.4.6 in one and 1 in another"},
	} {
		t.Run(test.name, func(t *testing.T) {
			other := part("scale", report.Pass, "")
			test.change(other)
			_, err := report.Merge(part("add", report.Pass, ""), other)
			if !errors.Is(err, report.ErrDifferent) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := report.Merge(); err == nil {
		t.Error("nothing can be merged")
	}
}

// Parts that ran after each other, with a night between, took their times together.
func TestMergeSeconds(t *testing.T) {
	for _, test := range []struct {
		second string
		want   float64
	}{{"2026-01-02T10:00:00Z", 20}, {"2026-01-02T10:00:15Z", 35}, {"2026-01-03T10:00:00Z", 40}, {"", 40}} {
		got, err := report.Merge(part("a", report.Pass, "2026-01-02T10:00:00Z"), part("b", report.Pass, test.second))
		if err != nil || got.Seconds != test.want {
			t.Errorf("second part at %q: got %v s, %v, want %v s", test.second, got.Seconds, err, test.want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	want := part("add", report.Pass, "2026-01-02T10:00:00Z")
	if err := want.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	got, err := report.Read(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, test := range []struct{ name, text, want string }{
		{"not JSON", "no", "invalid character"},
		{"other schema", `{"schema": 99}`, "unknown schema 99, want 2"},
		{"no name", `{"schema": 2, "results": [{"status": "pass"}]}`, "result 0 lacks op, adaptor or check"},
		{"status", `{"schema": 2, "results": [{"op": "a", "adaptor": "b", "check": "c", "status": "fine"}]}`, `the status "fine"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(dir, "bad.json")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := report.Read(path); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := report.Read(filepath.Join(dir, "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}

func TestReadIsLimited(t *testing.T) {
	_, err := report.ReadLimited(strings.NewReader(`{"schema": 2}`), 12)
	if err == nil || !strings.Contains(err.Error(), "more than 12 bytes") {
		t.Errorf("got %v", err)
	}
}
