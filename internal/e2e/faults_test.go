package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/opcast/opcast/internal/testkit/faultinject"
)

// faults is one command on one project, and what must be in the end.
type faults struct {
	t *testing.T
	// dir is the project, and stale a copy of it with which each run begins. Edit changes the project after the fault.
	dir, stale string
	edit       func()
	// command is the command, which can be run again.
	command func() *exec.Cmd
	// begins is how the sentence begins that says why it failed, if not with "opcast: ".
	begins string
	// env is for the run under faults only.
	env []string
	// result is what must be the same as in a project in which nothing failed.
	result func() map[string]string
	want   map[string]string
	// unedited is the result without faults and without the edit.
	unedited map[string]string
}

// begin brings the project into the state in which each run begins.
func (f *faults) begin() {
	f.t.Helper()
	if err := errors.Join(os.RemoveAll(f.dir), os.Mkdir(f.dir, 0o755)); err != nil {
		f.t.Fatal(err)
	}
	run(f.t, command(f.t, f.stale, "cp", "-a", ".", f.dir))
}

// fault runs the command once under a fault, and once more without.
func (f *faults) fault(name string, fault faultinject.Fault) {
	f.t.Helper()
	p, r := f.start(fault)
	if r.Hit == "" && r.Code != 0 {
		f.t.Errorf("%s: exit code %d without a fault\n%s", name, r.Code, r.Stderr)
	}
	name += " (" + strings.ReplaceAll(r.Hit, f.dir, "…") + ")"
	if r.Hit != "" && fault.KillAt == 0 {
		f.sentence(name, fault.Errno, r)
	}
	f.repair(name, func() {
		if err := p.End(); err != nil {
			f.t.Error(err)
		}
	})
}

// broken runs the command on a machine that the environment makes poor, and once more on the good one. The former must end
// with the exit code and say why in one sentence.
func (f *faults) broken(name string, code int, says string, env ...string) {
	f.t.Helper()
	f.begin()
	cmd := f.command()
	cmd.Env = append(cmd.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	if cmd.ProcessState.ExitCode() != code || f.sentences(stderr.String()) != min(code, 1) || !strings.Contains(stderr.String(), says) {
		f.t.Errorf("%s: %v, want exit code %d and %q:\n%s", name, err, code, says, stderr.String())
	}
	f.repair(name, func() {})
}

// repair runs the command on the project after a fault. Then the result must be that of a fresh project. What the fault left
// running may run meanwhile; end waits for it.
func (f *faults) repair(name string, end func()) {
	f.t.Helper()
	if f.edit != nil {
		f.edit()
	}
	out, err := f.command().CombinedOutput()
	end()
	if err != nil {
		f.t.Errorf("%s: the next run: %v\n%s", name, err, out)
	} else if diff := differences(f.result(), f.want); diff != "" {
		f.t.Errorf("%s: after the next run %s", name, diff)
	}
}

// poor lets the command meet a machine that lacks a program, of which the exit code tells, and compilers that die. Its ninja
// is on PATH only.
func (f *faults) poor(lacks int, ninja, dead string) {
	f.t.Helper()
	const none = "no-such-compiler"
	f.broken("no compiler", lacks, "no C++ compiler: $CXX names "+none, "CXX="+none)
	f.broken("no ninja", lacks, ninja, "PATH="+pathWithout(f.t, "ninja"))
	f.broken("compiler that fails without a word", 1, dead, "BROKEN=silence")
	f.broken("compiler that is killed", 1, dead, "BROKEN=killed")
	f.broken("half an object", 1, dead, "BROKEN=object")
	f.broken("half a library", 1, dead, "BROKEN=library")
	f.broken("no home", 0, "", "HOME=")
}

// pathWithout is a PATH on which one program lacks.
func pathWithout(t *testing.T, program string) string {
	t.Helper()
	to := t.TempDir()
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		files, _ := filepath.Glob(filepath.Join(folder, "*")) // only a wrong pattern is an error
		for _, file := range files {
			if name := filepath.Base(file); name != program {
				_ = os.Symlink(file, filepath.Join(to, name)) // the first of that name counts
			}
		}
	}
	return to
}

// ninjaOnPath takes ninja out of an environment and returns a PATH on which it is.
func ninjaOnPath(t *testing.T, interpreter string) string {
	t.Helper()
	folder := t.TempDir()
	err := os.Rename(filepath.Join(filepath.Dir(interpreter), "ninja"), filepath.Join(folder, "ninja"))
	if err != nil {
		t.Fatal(err)
	}
	return folder + ":" + os.Getenv("PATH")
}

// start runs the command under a fault, and waits for it alone.
func (f *faults) start(fault faultinject.Fault) (*faultinject.Process, faultinject.Result) {
	f.t.Helper()
	f.begin()
	fault.In = []string{f.dir}
	cmd := f.command()
	cmd.Env = append(cmd.Environ(), f.env...)
	p, err := faultinject.Start(f.t.Context(), cmd, fault)
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := p.Wait()
	if errors.Is(err, faultinject.ErrRefused) {
		f.t.Skip(err)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return p, r
}

// sentence expects that a command which failed says why in one sentence, after what compilers say, and that one which does
// not fail did all it should.
func (f *faults) sentence(name string, errno syscall.Errno, r faultinject.Result) {
	f.t.Helper()
	why := strings.Contains(strings.ToLower(r.Stderr), errno.Error())
	switch {
	case r.Code == 0:
		want := f.want
		if f.edit != nil { // which comes later
			want = f.unedited
		}
		if diff := differences(f.result(), want); diff != "" {
			f.t.Errorf("%s: exit code 0, and %s", name, diff)
		}
	case r.Code != 1 && r.Code != 3, f.sentences(r.Stderr) != 1, !why, strings.Contains(r.Stderr, "goroutine"):
		f.t.Errorf("%s: exit code %d and\n%s", name, r.Code, r.Stderr)
	}
}

// sentences counts the lines that say why the command failed.
func (f *faults) sentences(text string) int {
	return strings.Count("\n"+text, "\n"+cmp.Or(f.begins, "opcast: "))
}

// calls are those of the command that change files.
func (f *faults) calls() []string {
	f.t.Helper()
	p, r := f.start(faultinject.Fault{})
	if err := p.End(); err != nil || r.Code != 0 {
		f.t.Fatalf("without a fault: exit code %d, %v\n%s", r.Code, err, r.Stderr)
	}
	f.unedited = f.result()
	f.t.Logf("%d calls change files", len(r.Calls))
	return r.Calls
}

// kills kills the command at so many of its calls, in a short run at a third of them.
func (f *faults) kills(most int) {
	f.t.Helper()
	if testing.Short() {
		most /= 3
	}
	calls := f.calls()
	for _, n := range points(calls, most) {
		f.fault(fmt.Sprintf("kill at call %d of %d", n, len(calls)), faultinject.Fault{KillAt: n})
	}
}

// refusals lets each n-th call fail, or all from so many on.
func (f *faults) refusals(every []int, full int) {
	f.t.Helper()
	calls := f.calls()
	for _, n := range every {
		f.fault(fmt.Sprintf("each %d. call fails", n), faultinject.Fault{Every: n, Errno: syscall.EIO})
	}
	for _, n := range points(calls, full) {
		f.fault(fmt.Sprintf("full disk from call %d on", n), faultinject.Fault{From: n, Errno: syscall.ENOSPC})
	}
	f.fault("read-only", faultinject.Fault{From: 1, Errno: syscall.EROFS})
}
