package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/internal/results/report"
)

func TestLiveLine(t *testing.T) {
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name string
		line liveLine
		want string
	}{
		{"nothing yet", liveLine{total: 8}, "──────────────────── 0/8 checks: starting · 2:05 · "},
		{"half", liveLine{total: 8, done: 4, counts: report.Counts{Passed: 9, Failed: 1}, spec: "add numpy value"},
			"━━━━━━━━━━────────── 4/8 checks: 1 failed, 9 passed · 2:05 · add numpy value"},
		{"more than planned", liveLine{total: 1, done: 2, counts: report.Counts{Skipped: 2}},
			"━━━━━━━━━━━━━━━━━━━━ 2/1 checks: 2 skipped · 2:05 · "},
		{"no checks", liveLine{}, "──────────────────── 0/0 checks: starting · 2:05 · "},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.line.started = now.Add(-125 * time.Second)
			if got := test.line.text(now); got != cutLines+test.want+wrapLines {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// results of one cell, one of which is a failure.
var printed = []report.Result{
	{Op: "add", Adaptor: "numpy", Group: "Values", Check: "value", Status: report.Pass, Seconds: 1},
	{Op: "add", Adaptor: "numpy", Group: "Values", Check: "attrs", Status: report.Fail, Reason: "y[0]\n  more", File: "add.toml", Line: 1},
}

// Control characters in texts from users' code are shown, not obeyed, with a live line and without.
func TestPrinterShowsControls(t *testing.T) {
	for _, live := range []bool{false, true} {
		var out bytes.Buffer
		p := &Printer{Out: &out}
		if live {
			p.Start(1, time.Now())
		}
		p.Line("note: %s", "\x1b[2J")
		p.Results([]report.Result{{Op: "add", Adaptor: "numpy", Check: "value", Status: report.Fail, Reason: "\x1b]0;owned\x07\nmore"}})
		p.Stop()
		for _, text := range []string{`note: \x1b[2J`, `\x1b]0;owned\x07` + "\n    more"} {
			if !strings.Contains(out.String(), text) {
				t.Errorf("live %v: %q is missing in %q", live, text, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b[2J") || strings.Contains(out.String(), "\x07") {
			t.Errorf("live %v: %q", live, out.String())
		}
	}
}

// On a terminal, failures stay above a line that is drawn again, and in the end nothing of it is left.
func TestPrinterOnTerminal(t *testing.T) {
	var out bytes.Buffer
	p := &Printer{Out: &out}
	p.Start(2, time.Now())
	p.Running("add numpy value")
	p.Results(printed)
	p.Finished(printed)
	p.Line("a note")
	p.Stop()
	p.Stop()
	text := out.String()
	parts := strings.Split(text, eraseLine)
	for _, want := range []string{"FAIL add.toml:1: add, numpy: Values: attrs\n    y[0]\n      more\n" + cutLines, "a note\n" + cutLines} {
		if !strings.Contains(text, eraseLine+want) {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	if last := parts[len(parts)-1]; last != "" {
		t.Errorf("in the end the terminal shows %q", last)
	}
	if want := " 1/2 checks: 1 failed, 1 passed · 0:00 · add numpy value"; !strings.Contains(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
	if strings.Contains(text, "1.0 s") {
		t.Error("there is a line for the op and adaptor, too")
	}
}

// In CI there are lines, and nothing is drawn.
func TestPrinterPlain(t *testing.T) {
	var out bytes.Buffer
	p := &Printer{Out: &out}
	p.Running("add numpy value")
	p.Results(printed)
	p.Finished(printed)
	p.Closing(&report.Report{Results: printed, Seconds: 90})
	want := `FAIL add.toml:1: add, numpy: Values: attrs
    y[0]
      more
add                  numpy      1 passed, 1 failed, 0 skipped               1.0 s

group               passed  failed  unsupported  skipped   seconds
Values                   1       1            0        0       1.0
total                    1       1            0        0       1.0
checks took 1 s: numpy value 1 s, numpy attrs 0 s, …
the run took 1 min 30 s
1 passed, 1 failed, 0 skipped
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
