package report_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/report"
)

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
