package audit

import (
	"strings"
	"testing"
)

// TestWheelOfMillions: a small archive may claim millions of wrong lines. A few of them are told, and how many more there are.
func TestWheelOfMillions(t *testing.T) {
	files := newWheel(read(t, samples["good"].build(t)))
	files[info+"RECORD"] = strings.Repeat("a\n", 1<<20)
	report := judged(t, files)
	if n := len(report.Findings); n != mostAlike+1 {
		t.Fatalf("%d findings", n)
	}
	if last := report.Findings[mostAlike]; !strings.Contains(last.Text, "more like these") || !strings.HasPrefix(last.Text, "and 10485") {
		t.Errorf("got %+v", last)
	}
}
