package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/report"
)

// What many checks notice is told once; what only one check sees belongs to that check.
func TestCauses(t *testing.T) {
	fail := func(op, adaptor, kernel, check, cause string) report.Result {
		return report.Result{Op: op, Adaptor: adaptor, Kernel: kernel, Check: check, Cause: cause, Status: report.Fail, Reason: check + " in " + adaptor + "\nmore"}
	}
	pass := func(op, kernel, check string) report.Result {
		return report.Result{Op: op, Adaptor: "numpy", Kernel: kernel, Check: check, Status: report.Pass, Cause: "ignored"}
	}
	got := report.Causes([]report.Result{
		pass("add", "fast", "value"),
		fail("add", "numpy", "slow", "value", report.CauseDiffers), fail("add", "torch", "slow", "sizes", report.CauseDiffers),
		fail("add", "torch", "slow", "value", report.CauseDiffers),
		fail("mul", "numpy", "a", "value", report.CauseDiffers), fail("mul", "numpy", "b", "value", report.CauseDiffers),
		fail("add", "numpy", "", "out", ""), fail("add", "torch", "", "out", ""),
		fail("mul", "numpy", "", "value", report.CauseHangs), fail("mul", "numpy", "a", "out", report.CauseOutside),
		fail("neg", "numpy", "only", "value", report.CauseDiffers),
	})
	want := []report.Cause{
		{Op: "mul", Text: report.CauseOutside, Hint: "with kernel a", Results: 1, Checks: []string{"out"}, Adaptors: []string{"numpy"}, Kernels: []string{"a"}, First: "out in numpy"},
		{Op: "mul", Text: report.CauseHangs, Results: 1, Checks: []string{"value"}, Adaptors: []string{"numpy"}, First: "value in numpy"},
		{
			Op: "add", Text: report.CauseDiffers, Hint: "only with kernel slow: the same checks pass with kernel fast", Results: 3,
			Checks: []string{"value", "sizes"}, Adaptors: []string{"numpy", "torch"}, Kernels: []string{"slow"}, First: "value in numpy",
		},
		{
			Op: "mul", Text: report.CauseDiffers, Hint: "with kernels a, b alike: is the reference right?", Results: 2,
			Checks: []string{"value"}, Adaptors: []string{"numpy"}, Kernels: []string{"a", "b"}, First: "value in numpy",
		},
		{Op: "add", Text: "check out fails", Results: 2, Checks: []string{"out"}, Adaptors: []string{"numpy", "torch"}, First: "out in numpy"},
		{Op: "neg", Text: report.CauseDiffers, Hint: "with kernel only: either is wrong", Results: 1, Checks: []string{"value"}, Adaptors: []string{"numpy"}, Kernels: []string{"only"}, First: "value in numpy"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	many := report.Cause{Op: "add", Text: "x", Results: 9, Checks: []string{"a", "b", "c", "d", "e", "f"}, Adaptors: []string{"numpy"}}
	if diff := cmp.Diff([]string{"add: x: 9 results", "  of a, b, c, d and 2 more; through numpy"}, many.Lines()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
