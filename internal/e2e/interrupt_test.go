package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// definition is an op that needs no library: functions stand for it.
const definition = `doc = "Add two arrays."
kind = %d
dtypes = { T = ["f32"] }
inputs = [
  { name = "x", type = "T[*, N]", doc = "Rows." },
  { name = "b", type = "T[N]", doc = "Added to each row." },
]
outputs = [{ name = "y", type = "T[*, N]", doc = "The sum." }]
reference = "return x + b"
`

// functions are the two ops. A file "wrong" has them return wrong results, and a pipe "reached" makes them hang, after they
// have told so through it, when they get a reversed array: the check "reversed" begins with that.
const functions = `import threading
from pathlib import Path

HERE = Path(__file__).parent


def call(op, x, b):
    pipe = HERE / "reached"
    if pipe.exists() and x.ndim and x.strides[-1] < 0:
        pipe.write_text(op + "\n")
        threading.Event().wait()
    return x + b + (HERE / "wrong").exists()


def first(x, b):
    return call("first", x, b)


def second(x, b):
    return call("second", x, b)
`

// checks run in this order: two before the one that hangs, and one after it.
var checks = []string{"expanded", "magnitudes", "reversed", "value"}

// stage is a folder in which a run can be stopped at a known place.
type stage struct {
	*testing.T
	dir, temp, mark string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, dir: t.TempDir(), temp: t.TempDir()}
	s.mark = "OPCAST_TEST_MARK=" + s.dir
	for i, op := range []string{"first", "second"} {
		s.put("defs/"+op+".toml", fmt.Sprintf(definition, i))
	}
	s.put("ops.py", functions)
	var only strings.Builder
	for _, check := range checks {
		fmt.Fprintf(&only, "* numpy %s\n", check)
	}
	s.put("only", only.String())
	return s
}

func (s *stage) put(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// hang has the ops hang; the returned function waits until so many of them do.
func (s *stage) hang() (wait func(count int)) {
	s.Helper()
	path := filepath.Join(s.dir, "reached")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		s.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // open for writing, too, so that nobody finds it closed
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { pipe.Close() })
	return func(count int) {
		s.Helper()
		if err := pipe.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
			s.Fatal(err)
		}
		for got := 0; got < count; {
			buffer := make([]byte, 64)
			n, err := pipe.Read(buffer)
			if err != nil {
				s.Fatal(err)
			}
			got += bytes.Count(buffer[:n], []byte("\n"))
		}
		if err := os.Remove(path); err != nil {
			s.Fatal(err)
		}
	}
}

// running is a command that was started, and what it prints.
type running struct {
	*exec.Cmd
	out bytes.Buffer
}

// start starts the command in a process group of its own, as a shell does.
func (s *stage) start(args ...string) *running {
	s.Helper()
	words := append([]string{"test", "--opdefs", "defs", "--python", python(s.T), "--only", "only"}, args...)
	for _, op := range []string{"first", "second"} {
		words = append(words, "--callable", "numpy:"+op+"=ops.py:"+op)
	}
	return s.startTool(s.dir, words...)
}

func (s *stage) startTool(dir string, words ...string) *running {
	s.Helper()
	r := &running{Cmd: exec.Command(tooltest.Path(s.T), words...)}
	r.Dir, r.Stdout, r.Stderr = dir, &r.out, &r.out
	r.Env = append(os.Environ(), "TMPDIR="+s.temp, s.mark)
	r.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = syscall.Kill(-r.Process.Pid, syscall.SIGKILL) })
	return r
}

// ended waits for the end of a command, and returns its exit code.
func (s *stage) ended(r *running) int {
	s.Helper()
	_ = r.Wait() // a command that fails is what the caller expects
	return r.ProcessState.ExitCode()
}

// deserted expects that every process that the commands have started ends.
func (s *stage) deserted() {
	s.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		left := s.processes()
		if len(left) == 0 {
			return
		}
		if time.Now().After(limit) {
			s.Fatalf("there still are %q", left)
		}
	}
}

// processes are those that have the mark in their environment.
func (s *stage) processes() (list []string) {
	s.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		s.Fatal(err)
	}
	for _, path := range environments {
		text, _ := os.ReadFile(path) // it may end just now, or be someone else's
		if slices.Contains(strings.Split(string(text), "\x00"), s.mark) {
			words, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			list = append(list, strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	return list
}

// tidy expects an empty folder for temporary files.
func (s *stage) tidy() {
	s.Helper()
	entries, err := os.ReadDir(s.temp)
	if err != nil || len(entries) > 0 {
		s.Errorf("temporary files are left: %v, %v", entries, err)
	}
}

// report is the one that the last run has left.
func (s *stage) report() *report.Report {
	s.Helper()
	r, err := report.Read(filepath.Join(s.dir, "build", "report", report.File))
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// outcomes are "op check status" for all results of a report.
func outcomes(r *report.Report) (list []string) {
	for _, x := range r.Results {
		list = append(list, x.Op+" "+x.Check+" "+string(x.Status))
	}
	return list
}

// A signal stops a run where it is. What was complete is in the report, which says that the run was interrupted; what was
// cut off is nowhere a failure; no process and no temporary file is left. With several processes it makes no difference
// whether the signal goes to the command, as from kill, or to its group, as from a terminal.
func TestInterruptedTest(t *testing.T) {
	t.Parallel()
	python(t)
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		jobs   int
		group  bool
		code   int
	}{
		{"SIGINT", syscall.SIGINT, 1, false, 130},
		{"SIGINT", syscall.SIGINT, 1, true, 130},
		{"SIGTERM", syscall.SIGTERM, 1, false, 143},
		{"SIGHUP", syscall.SIGHUP, 1, false, 129},
		{"SIGINT", syscall.SIGINT, 2, false, 130},
		{"SIGINT", syscall.SIGINT, 2, true, 130},
		{"SIGTERM", syscall.SIGTERM, 2, false, 143},
	} {
		t.Run(fmt.Sprintf("%s, jobs %d, group %v", c.name, c.jobs, c.group), func(t *testing.T) {
			s := newStage(t)
			wait := s.hang()
			r := s.start("--jobs", fmt.Sprint(c.jobs))
			wait(c.jobs)
			target := r.Process.Pid
			if c.group {
				target = -target
			}
			if err := syscall.Kill(target, c.signal); err != nil {
				t.Fatal(err)
			}
			if code := s.ended(r); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			s.deserted()
			s.tidy()
			s.expectInterrupted(r.out.String(), c.name, c.jobs)
		})
	}
}

// expectInterrupted holds what an interrupted run has left against what it should leave: each job ran two checks.
func (s *stage) expectInterrupted(out, signal string, jobs int) {
	s.Helper()
	missing := 2*len(checks) - 2*jobs
	sentence := fmt.Sprintf("interrupted by %s: %d checks did not run\n%d passed, 0 failed, 0 skipped\n", signal, missing, 2*jobs)
	if !strings.HasSuffix(out, sentence) || strings.Contains(out, "FAIL") || strings.Contains(out, "ERROR") {
		s.Errorf("the last lines should be\n%sin\n%s", sentence, out)
	}
	got := s.report()
	if got.Interrupted == nil || got.Interrupted.NotRun != missing || got.Interrupted.Reason != "interrupted by "+signal {
		s.Errorf("the report says %+v", got.Interrupted)
	}
	var want []string
	for i := range got.Results {
		if op := got.Results[i].Op; i == 0 || op != got.Results[i-1].Op { // one process takes any op first
			want = append(want, op+" expanded pass", op+" magnitudes pass")
		}
	}
	if diff := cmp.Diff(want, outcomes(got)); diff != "" || len(want) != 2*jobs {
		s.Errorf("results, -want +got:\n%s", diff)
	}
	cases, err := os.ReadDir(filepath.Join(s.dir, "build", "report", "cases"))
	if err != nil || len(cases) > 0 {
		s.Errorf("reproducers of no failure: %v, %v", cases, err)
	}
}
