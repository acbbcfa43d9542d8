package build

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// TestKilledBuild: after `kill -9` of a build, its compilers end or keep the lock, so that they cannot overwrite what a
// later build has made.
func TestKilledBuild(t *testing.T) {
	d := newDemo(t)
	dir := t.TempDir()
	begun := filepath.Join(dir, "begun")
	script := filepath.Join(dir, "slow")
	tooltest.Write(t, script, "#!/bin/sh\ntrap '' INT\ncase \"$*\" in *other.cc*) : > "+begun+"; sleep 1 ;; esac\nc++ \"$@\"\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	// The process that is killed is this test, started again.
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledBuild$")
	if dir := os.Getenv("KILLED_BUILD"); dir != "" {
		d.Project.Dir = dir
		lock, err := LockProject(t.Context(), dir, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		d.Lock = lock
		d.set(map[string]string{"CXX": os.Getenv("KILLED_CXX")})
		d.compiled()
		return
	}
	cmd.Env = append(os.Environ(), "KILLED_BUILD="+d.Project.Dir, "KILLED_CXX="+script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, begun)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	d.write("csrc/other.cc", demoFiles["csrc/other.cc"]+"int Edited() { return 1; }\n")
	lock, err := LockProject(t.Context(), d.Project.Dir, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if compilers := running(t, script); len(compilers) > 0 {
		t.Errorf("the lock is free and compilers still run: %v", compilers)
	}
	d.compiled()
	fresh := newDemo(t)
	fresh.write("csrc/other.cc", string(d.read("csrc/other.cc")))
	fresh.compiled()
	if !slices.Equal(fresh.read("build/release/libdemo.so"), d.read("build/release/libdemo.so")) {
		t.Error("the library differs from that of a fresh project")
	}
}

// waitFor waits for a file.
func waitFor(t *testing.T, file string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < 2*time.Minute; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
	t.Fatalf("%s was not made in two minutes", file)
}

// running are the processes that have a word in their command lines.
func running(t *testing.T, word string) (found []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), word) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2]) // the pattern says that it is a number
			found = append(found, pid)
		}
	}
	return found
}

// TestKilledNinja: where ninja alone is killed, its compilers keep the lock of the build, though that has ended.
func TestKilledNinja(t *testing.T) {
	d := newDemo(t)
	dir := t.TempDir()
	begun, script := filepath.Join(dir, "begun"), filepath.Join(dir, "slow")
	tooltest.Write(t, script, "#!/bin/sh\ncase \"$*\" in *other.cc*) : > "+begun+"; sleep 1 ;; esac\nc++ \"$@\"\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	d.set(map[string]string{"CXX": script})
	lock, err := LockProject(t.Context(), d.Project.Dir, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	d.Lock = lock
	built := make(chan error, 1)
	go func() {
		_, _, err := Run(t.Context(), d.Options)
		built <- err
	}()
	waitFor(t, begun)
	for _, pid := range running(t, "work/build.ninja") {
		if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && cwd == d.Project.Dir {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-built; err == nil {
		t.Error("a build without its ninja was fine")
	}
	lock.Release()
	if lock, err = LockProject(t.Context(), d.Project.Dir, io.Discard); err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if compilers := running(t, script); len(compilers) > 0 {
		t.Errorf("the lock is free and compilers still run: %v", compilers)
	}
}
