package matrix

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/opcast/opcast/internal/results/report"
)

// hanging is a script that tells its number through a pipe, and hangs where the report is that of an environment.
const hanging = `case "$*" in *report/NAME*) echo $$ >DIR/reached; exec sleep 1000;; esac
`

// A run that is interrupted keeps what environments came to that were done, says how many are missing, ends the programs
// that it started, and leaves no environment, of which each has gigabytes.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		at   string
		want *report.Interruption
	}{
		{"three", &report.Interruption{Reason: "interrupted by a test", NotRun: 1}},
		{"one-two", nil},
	} {
		t.Run(c.at, func(t *testing.T) {
			o := options(t, `"x"`, "")
			dir := o.Project.Dir
			write(t, filepath.Join(dir, "test"),
				"#!/bin/sh\n"+strings.NewReplacer("NAME", c.at, "DIR", dir).Replace(hanging)+leave(good))
			write(t, filepath.Join(dir, File), "defaults = false\n"+environment("one two", `"x"`, "")+environment("three", `"x"`, ""))
			pipe := filepath.Join(dir, "reached")
			if err := syscall.Mkfifo(pipe, 0o644); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			process := make(chan int, 1)
			go func() {
				text, _ := os.ReadFile(pipe)
				pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
				process <- pid
				cancel(errors.New("interrupted by a test"))
			}()
			outcome, err := Run(ctx, o)
			if c.want == nil {
				if err == nil || !strings.Contains(err.Error(), "interrupted by a test") {
					t.Errorf("got %+v, %v", outcome, err)
				}
			} else if err != nil || len(outcome.Report.Versions) != 1 || outcome.Report.Interrupted == nil ||
				outcome.Report.Interrupted.NotRun != c.want.NotRun || outcome.Report.Interrupted.Reason != c.want.Reason {
				t.Errorf("got %+v, %v", outcome, err)
			}
			if err := syscall.Kill(<-process, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the program that hangs is still there: %v", err)
			}
			for _, name := range []string{"one-two-*", "three-*"} {
				if left, _ := filepath.Glob(filepath.Join(o.Dir, name)); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			}
		})
	}
}
