package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/report"
)

// Processes whose command is killed end by themselves, though what they call hangs. The next run removes what is left of
// their files, and nothing of a run that goes on.
func TestKilledTest(t *testing.T) {
	t.Parallel()
	python(t)
	for _, jobs := range []string{"1", "2"} {
		t.Run("jobs "+jobs, func(t *testing.T) {
			s := newStage(t)
			wait := s.hang()
			r := s.start("--jobs", jobs)
			wait(len(jobs) + int(jobs[0]-'1'))
			if err := r.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			s.ended(r)
			s.deserted()
			if code := s.ended(s.start()); code != 0 {
				t.Errorf("the next run: exit code %d", code)
			}
			s.tidy()
		})
	}
}

// Whoever does not want to wait for the end sends the signal once more. Here a run would wait forever: its report is a pipe
// in which nobody writes.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	wait := s.hang()
	s.put("build/report/junit.xml", "old")
	path := filepath.Join(s.dir, "build", "report", report.File)
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	r := s.start()
	wait(1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.Wait()
	}()
	for running := true; running; { // signals that follow each other at once count as one
		_ = r.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			running = false
		case <-time.After(100 * time.Millisecond):
		}
	}
	if code := r.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d, want 143:\n%s", code, r.out.String())
	}
	s.deserted()
	if text, err := os.ReadFile(filepath.Join(s.dir, "build", "report", "junit.xml")); err != nil || string(text) != "old" {
		t.Errorf("the old report is %q, %v", text, err)
	}
}

// A run that was interrupted forgets no failure: --last-failed runs what failed in it, and what it did not reach of what had
// failed before.
func TestLastFailedAfterInterruption(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("wrong", "")
	if code := s.ended(s.start()); code != 1 {
		t.Fatalf("a run with failures: exit code %d", code)
	}
	if err := os.Remove(filepath.Join(s.dir, "wrong")); err != nil {
		t.Fatal(err)
	}
	before := s.report().Failed()
	if len(before) != 2*len(checks) {
		t.Fatalf("failed: %v", before)
	}
	wait := s.hang()
	r := s.start()
	wait(1)
	if err := r.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.ended(r)
	got := s.report()
	fixed := map[report.Spec]bool{}
	for i := range got.Results {
		fixed[got.Results[i].Spec()] = true
	}
	var want []report.Spec
	for _, spec := range before {
		if !fixed[spec] {
			want = append(want, spec)
		}
	}
	if diff := cmp.Diff(want, got.Interrupted.Pending); diff != "" || len(fixed) != 2 {
		t.Fatalf("pending, -want +got:\n%s", diff)
	}
	again := s.start("--last-failed")
	if code := s.ended(again); code != 0 || !strings.HasSuffix(again.out.String(), "\n6 passed, 0 failed, 0 skipped\n") {
		t.Errorf("exit code %d:\n%s", code, again.out.String())
	}
	none := s.start("--last-failed")
	if code := s.ended(none); code != 0 || !strings.Contains(none.out.String(), "the last run had no failure") {
		t.Errorf("exit code %d:\n%s", code, none.out.String())
	}
	s.tidy()
}

// A run that is stopped before any check has begun leaves the report of the last one alone.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if code := s.ended(s.start()); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	old := s.report()
	wait := s.hang()
	s.put("ops.py", `from pathlib import Path
import threading
Path("reached").write_text("here\n")
threading.Event().wait()
`)
	s.put("ops.py", strings.Replace(s.read("ops.py"), `Path("reached")`, `(Path(__file__).parent / "reached")`, 1))
	r := s.start()
	wait(1)
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code := s.ended(r)
	if want := "starting workers: numpy\nopcast: interrupted by SIGTERM\n"; code != 143 || r.out.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, r.out.String(), want)
	}
	s.deserted()
	s.tidy()
	if diff := cmp.Diff(old, s.report()); diff != "" {
		t.Errorf("the report of the last run has changed:\n%s", diff)
	}
}

func (s *stage) read(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// A report that cannot be written is one sentence, after the summary of what was found.
func TestUnwrittenReport(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("build/report/junit.xml/full", "")
	r := s.start()
	code := s.ended(r)
	summary, last, told := strings.Cut(r.out.String(), "8 passed, 0 failed, 0 skipped\n")
	if code != 3 || !told || !strings.Contains(summary, "group") || strings.Count(last, "\n") != 1 ||
		!strings.HasPrefix(last, "opcast: the report is missing or old: report in build/report: write junit.xml: ") {
		t.Errorf("exit code %d:\n%s", code, r.out.String())
	}
	s.tidy()
}

// A caller whose process ends whenever it starts fails once, and the rest of its checks say why they are skipped.
func TestBrokenCaller(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("ops.py", `import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
with (HERE / "starts").open("a") as notes:
    notes.write("start\n")
if (HERE / "broken").exists():
    print("what is wrong", file=sys.stderr, flush=True)
    os._exit(7)


def first(x, b):
    (HERE / "broken").touch()
    os._exit(8)


second = first
`)
	s.put("only", "first numpy *\n")
	r := s.start()
	if code := s.ended(r); code != 1 {
		t.Errorf("exit code %d:\n%s", code, r.out.String())
	}
	if starts := strings.Count(s.read("starts"), "start"); starts < 4 || starts > 5 {
		t.Errorf("%d processes, want one, three attempts, and perhaps a child that starts ahead of its check:\n%s", starts, r.out.String())
	}
	const reason = "its process ended 3 times in a row while it started, exit status 7"
	failed, skipped := 0, 0
	for _, result := range s.report().Results {
		switch {
		case result.Status.Bad():
			failed++
		case result.Status == report.Skip && strings.Contains(result.Reason, reason):
			skipped++
		}
	}
	said := strings.Count(r.out.String(), "what is wrong") // by the caller, and perhaps by that child
	if failed == 0 || failed > 2 || skipped < 5 || said < 1 || said > 2 {
		t.Errorf("%d failed, %d skipped:\n%s", failed, skipped, r.out.String())
	}
	s.tidy()
}
