package report_test

import (
	"testing"

	"github.com/opcast/opcast/internal/results/report"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"y[0]: got 1,\n\twant 2 µ → é":        "y[0]: got 1,\n\twant 2 µ → é",
		"\x1b[2J\x1b]0;title\x07":             `\x1b[2J\x1b]0;title\x07`,
		"passed\rfailed\x00\x7f":              `passed\x0dfailed\x00\x7f`,
		"\u009b31m, \u202ereversed\u202c":     `\x9b31m, \u202ereversed\u202c`,
		"a byte that is no character: \x9b1m": "a byte that is no character: \ufffd1m",
	} {
		if got := report.Plain(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
