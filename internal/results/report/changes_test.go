package report_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/report"
)

// of is a result of the check with a status.
func of(check string, status report.Status, seconds float64) report.Result {
	return report.Result{Op: "add", Adaptor: "numpy", Group: "Values", Check: check, Status: status, Seconds: seconds}
}

func TestSince(t *testing.T) {
	old := &report.Report{
		Collection: "demo", Device: "cuda:0 (one board)", Started: "2026-01-02T10:00:00Z", SuiteVersion: "3", LibrarySHA256: "aa",
		Results: []report.Result{
			of("same", report.Pass, 1), of("broken", report.Pass, 0), of("fixed", report.Fail, 0), of("still", report.Fail, 0),
			of("lost", report.Pass, 0), of("hidden", report.Fail, 0), of("gained", report.Skip, 0), of("gone", report.Pass, 0), of("never", report.Skip, 0),
			of("slow", report.Pass, 1), of("bit", report.Pass, 1), of("fast", report.Pass, 0.1),
			of("rows", report.Pass, 0), of("rows", report.Pass, 0),
		},
		ULPs: []report.ULPs{{Op: "add", Output: "y", Worst: 1}, {Op: "add", Output: "z", Worst: 2}},
	}
	now := &report.Report{
		Collection: "demo", Device: "cuda:0 (another board)",
		Results: []report.Result{
			of("same", report.Pass, 1), of("broken", report.Error, 0), of("fixed", report.Pass, 0), of("still", report.Error, 0),
			of("lost", report.Skip, 0), of("hidden", report.Unsupported, 0), of("gained", report.Pass, 0), of("never", report.Unsupported, 0),
			of("slow", report.Pass, 1.2), of("slow", report.Pass, 1.2), of("bit", report.Pass, 1.4), of("fast", report.Pass, 0.5),
			of("rows", report.Pass, 0), of("rows", report.Fail, 0), of("new", report.Fail, 0), of("more", report.Pass, 0),
			{Op: "add", Adaptor: "numpy", Group: "Values", Check: "slow", DType: "T = float16", Status: report.Error},
		},
		ULPs: []report.ULPs{{Op: "add", Output: "y", Worst: 3, DType: ""}, {Op: "add", Output: "z", Worst: 2}, {Op: "add", Output: "new"}},
	}
	change := func(check string, before, after report.Status) report.Change {
		return report.Change{Op: "add", Adaptor: "numpy", Group: "Values", Check: check, Before: before, After: after}
	}
	died := change("slow", "", report.Error) // as a whole, where it had rows
	died.DType = "T = float16"
	want := &report.Changes{
		Since: "2026-01-02T10:00:00Z", SuiteVersion: "3", LibrarySHA256: "aa", Compared: 12, Added: 3, Gone: 1,
		Broken: []report.Change{
			change("broken", report.Pass, report.Error), change("rows", report.Pass, report.Fail), died,
		},
		Fixed:   []report.Change{change("fixed", report.Fail, report.Pass)},
		Lost:    []report.Change{change("lost", report.Pass, report.Skip), change("hidden", report.Fail, report.Unsupported)},
		Slower:  []report.Slower{{Op: "add", Adaptor: "numpy", Check: "slow", Before: 1, After: 2.4}},
		Coarser: []report.Coarser{{Op: "add", Output: "y", Before: 1, After: 3}},
	}
	got := now.Since(old)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := got.Lines(); len(got) != 7 || got[0] != "since the previous run: add, numpy: Values: broken fails now and did not before" {
		t.Errorf("in words: %q", got)
	}
	if got := (*report.Changes)(nil).Lines(); got != nil {
		t.Errorf("without a previous run: %q", got)
	}
}

// Runs on another device, and of another collection, are not compared.
func TestSinceOther(t *testing.T) {
	now := &report.Report{Collection: "demo", Device: "cpu"}
	for _, old := range []*report.Report{{Collection: "other", Device: "cpu"}, {Collection: "demo", Device: "cuda:0"}} {
		if got := now.Since(old); got != nil {
			t.Errorf("%s on %s: %+v", old.Collection, old.Device, got)
		}
	}
}

func TestGroups(t *testing.T) {
	r := &report.Report{
		Checks: []report.Check{{ID: "value", Group: "Values"}, {ID: "rank", Group: "Shapes"}},
		Results: []report.Result{
			{Group: "Other", Status: report.Error, Seconds: 1}, {Group: "Shapes", Status: report.Skip}, {Group: "Values", Status: report.Pass},
			{Group: "Values", Status: report.Unsupported, Seconds: 0.25}, {Group: "Another", Status: report.Fail},
		},
	}
	want := `group               passed  failed  unsupported  skipped   seconds
Values                   1       0            1        0       0.2
Shapes                   0       0            0        1       0.0
Another                  0       1            0        0       0.0
Other                    0       1            0        0       1.0
total                    1       2            1        1       1.2
`
	if got := r.Table(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestDuration(t *testing.T) {
	for _, test := range []struct {
		seconds float64
		want    string
	}{{0, "0.0 s"}, {9.94, "9.9 s"}, {59.4, "59 s"}, {59.6, "1 min 0 s"}, {526, "8 min 46 s"}, {7260, "2 h 1 min"}} {
		if got := report.Duration(test.seconds); got != test.want {
			t.Errorf("%v: got %q, want %q", test.seconds, got, test.want)
		}
	}
}

// Each result with another status is listed once, whatever the statuses are; several results of one name count as the
// gravest of them.
func TestDiff(t *testing.T) {
	before := &report.Report{Collection: "demo", Results: []report.Result{
		of("same", report.Pass, 1), of("skipped", report.Skip, 0), of("gone", report.Pass, 0), of("rows", report.Pass, 0),
		of("rows", report.Pass, 0),
	}}
	after := &report.Report{Collection: "demo", Results: []report.Result{
		of("new", report.Pass, 0), of("rows", report.Pass, 0), of("rows", report.Fail, 0), of("skipped", report.Unsupported, 0),
		of("same", report.Pass, 9),
	}}
	change := func(check string, was, is report.Status) report.Change {
		return report.Change{Op: "add", Adaptor: "numpy", Group: "Values", Check: check, Before: was, After: is}
	}
	want := []report.Change{
		change("gone", report.Pass, ""), change("new", "", report.Pass), change("rows", report.Pass, report.Fail),
		change("skipped", report.Skip, report.Unsupported),
	}
	got, err := report.Diff(before, after)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if got, err := report.Diff(before, before); len(got) > 0 || err != nil {
		t.Errorf("a run and itself: %v, %v", got, err)
	}
	if _, err := report.Diff(before, &report.Report{Collection: "other"}); !errors.Is(err, report.ErrDifferent) {
		t.Errorf("another collection: %v", err)
	}
}
