package faultinject_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/opcast/opcast/internal/testkit/faultinject"
)

// TestMain lets the test program be the tracer, and a program with many threads that write.
func TestMain(m *testing.M) {
	if code, traced := faultinject.Tracer(); traced {
		os.Exit(code)
	}
	if dir := os.Getenv("FAULTINJECT_WRITERS"); dir != "" {
		os.Exit(writers(dir))
	}
	os.Exit(m.Run())
}

// writers replaces eight files eight times, all at once, and returns how many of these writes failed.
func writers(dir string) int {
	failures := make([]int, 8)
	var wait sync.WaitGroup
	for i := range failures {
		wait.Go(func() {
			path := filepath.Join(dir, fmt.Sprint(i))
			for range 8 {
				err := os.WriteFile(path+".new", []byte(path), 0o644)
				if errors.Join(err, os.Rename(path+".new", path)) != nil {
					failures[i]++
				}
			}
		})
	}
	wait.Wait()
	sum := 0
	for _, n := range failures {
		sum += n
	}
	return sum
}

// inject runs a shell script in an empty folder.
func inject(t *testing.T, script string, f faultinject.Fault) (r faultinject.Result, dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	f.In = []string{dir}
	return run(t, cmd, f), dir
}

func run(t *testing.T, cmd *exec.Cmd, f faultinject.Fault) faultinject.Result {
	t.Helper()
	r, err := faultinject.Run(t.Context(), cmd, f)
	if errors.Is(err, faultinject.ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// entries are the names in a folder, with the sizes of files.
func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if e.IsDir() {
			all = append(all, e.Name()+"/")
			continue
		}
		all = append(all, fmt.Sprintf("%s:%d", e.Name(), info.Size()))
	}
	return strings.Join(all, " ")
}

// The calls of shell scripts count, and fail, one by one.
func TestCalls(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		fault        faultinject.Fault
		code, calls  int
		said, left   string
	}{
		{"none", "echo a >a; cat a; mv a b; mkdir c; rm b", faultinject.Fault{}, 0, 5, "a\n", "c/"},
		{"reads, pipes and other folders", "cat $0 | cat >/dev/null; echo b; ls -d /", faultinject.Fault{}, 0, 0, "b\n/\n", ""},
		{"relative to folders", "mkdir c; cd c; : >a; ln -s a b; ln a d; rm -r ../c", faultinject.Fault{}, 0, 8, "", ""},
		{"through a link", "ln -s /tmp d; mkdir e; rm d; ln -s e d; : >d/a", faultinject.Fault{}, 0, 5, "", "d:1 e/"},
		{"second", "echo a >a && echo b >b", faultinject.Fault{Every: 2, Errno: syscall.EIO}, 1, 2, "", "a:0"},
		{"all from the third on", "echo a >a; echo b >b; echo c >c", faultinject.Fault{From: 3, Errno: syscall.EIO}, 2, 4, "", "a:2"},
		{"full disk", "echo 1234567 >a; rm a; : >b; mkdir c", faultinject.Fault{From: 2, Errno: syscall.ENOSPC}, 2, 5, "", ""},
		{"half of a write", "echo 1234567 >a", faultinject.Fault{From: 2, Errno: syscall.ENOSPC}, 1, 3, "", "a:4"},
		{"read-only", "mkdir b; rm -f c; sync . ; : >a", faultinject.Fault{From: 1, Errno: syscall.EROFS}, 2, 4, "", ""},
		{"killed at the first", "echo a >a; echo b >b", faultinject.Fault{KillAt: 1}, -1, 1, "", ""},
		{"killed at the fourth", "echo a >a; echo b >b", faultinject.Fault{KillAt: 4}, -1, 4, "", "a:2 b:0"},
		{"killed too late", "echo a >a", faultinject.Fault{KillAt: 3}, 0, 2, "", "a:2"},
		{"a child lives on", "(echo a >a; sleep 0.1; echo b >b) & wait", faultinject.Fault{KillAt: 1}, -1, 1, "", "a:2 b:2"},
		{"all are killed", "(echo a >a; sleep 0.1; echo b >b) & wait", faultinject.Fault{KillAt: 2, All: true}, -1, 2, "", "a:0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, dir := inject(t, tt.script, tt.fault)
			if r.Code != tt.code || len(r.Calls) != tt.calls || r.Stdout != tt.said || entries(t, dir) != tt.left {
				t.Errorf("got %+v, which leaves %q; want exit code %d after %d calls, %q, which leaves %q",
					r, entries(t, dir), tt.code, tt.calls, tt.said, tt.left)
			}
		})
	}
}

// The result says which call it was.
func TestHit(t *testing.T) {
	r, dir := inject(t, "echo a >a; cp a b", faultinject.Fault{Every: 3, Errno: syscall.ENOSPC})
	if want := "openat " + dir + "/b"; r.Hit != want || r.Calls[2] != want || !strings.Contains(r.Stderr, "No space left on device") {
		t.Errorf("got %q and %q, want %q", r.Hit, r.Stderr, want)
	}
}

// Threads of a Go program are counted all together, and fail as often as they should.
func TestThreads(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := func(dir string) *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "FAULTINJECT_WRITERS="+dir)
		return cmd
	}
	const calls = 8 * 8 * 3 // open, write, rename
	dir := t.TempDir()
	if r := run(t, command(dir), faultinject.Fault{In: []string{dir}}); r.Code != 0 || len(r.Calls) != calls {
		t.Errorf("got %+v, want %d calls", r, calls)
	}
	dir = t.TempDir()
	if r := run(t, command(dir), faultinject.Fault{In: []string{dir}, From: 1, Errno: syscall.EIO}); r.Code != 64 || entries(t, dir) != "" {
		t.Errorf("got %+v, want each of 64 writes to fail", r)
	}
	for n := 1; n < calls; n += 17 {
		dir := t.TempDir()
		if r := run(t, command(dir), faultinject.Fault{In: []string{dir}, KillAt: n}); r.Code != -1 || len(r.Calls) != n {
			t.Errorf("got %+v, want a kill at call %d", r, n)
		}
	}
}

// Wait does not wait for what lives on, End does.
func TestStart(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "(echo a >a; cat ../fifo; echo b >b) & wait")
	cmd.Dir = filepath.Join(dir, "d")
	if err := errors.Join(os.Mkdir(cmd.Dir, 0o755), syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644)); err != nil {
		t.Fatal(err)
	}
	p, err := faultinject.Start(t.Context(), cmd, faultinject.Fault{In: []string{dir}, KillAt: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait()
	if errors.Is(err, faultinject.ErrRefused) {
		t.Skip(err)
	}
	if err != nil || r.Code != -1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fifo"), nil, 0); err != nil { // waits for the child that reads it
		t.Fatal(err)
	}
	if err := p.End(); err != nil || entries(t, cmd.Dir) != "a:2 b:2" {
		t.Errorf("%q, %v", entries(t, cmd.Dir), err)
	}
}

// A command that is no program, and a folder that lacks, are errors.
func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct{ program, folder string }{
		"program": {"no-such-program", "."}, "folder": {"sh", "none"},
	} {
		if _, err := faultinject.Run(t.Context(), exec.Command(tt.program), faultinject.Fault{In: []string{tt.folder}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What is traced ends with the context, whatever it does.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := faultinject.Start(ctx, exec.Command("sh", "-c", "trap '' TERM INT; (exec sleep 1000) 9>"+fifo+" & wait"), faultinject.Fault{})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(fifo) // waits until the child has opened it
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(reader); err != nil { // waits until the child has ended
		t.Error(err)
	}
	if err := p.End(); err == nil {
		t.Error("the tracer did not end by a signal")
	}
}
