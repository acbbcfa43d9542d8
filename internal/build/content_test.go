package build

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// object is where the demo's kernel is compiled to.
const object = "build/release/obj/csrc/other.cc.o"

func (d *demo) path(name string) string { return filepath.Join(d.Project.Dir, name) }

func (d *demo) read(name string) []byte {
	d.t.Helper()
	content, err := os.ReadFile(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	return content
}

// set sets variables of the environment for what is built from now on.
func (d *demo) set(values map[string]string) {
	for name, value := range values {
		d.t.Setenv(name, value) // the compiler reads them from the process
	}
	d.Getenv = func(name string) string { return values[name] }
}

// TestContentDecides: after each step, exactly what reads something else is compiled.
func TestContentDecides(t *testing.T) {
	d := newDemo(t)
	d.compiled()
	other := demoFiles["csrc/other.cc"]
	extra := t.TempDir()
	steps := []struct {
		name string
		edit func()
		want string
	}{
		{"a source with an older time", func() {
			d.write("csrc/other.cc", other+"int Restored() { return 1; }\n")
			age(t, d.path("csrc/other.cc"), -24*time.Hour)
		}, "other.cc"},
		{"a source with a newer time only", func() { age(t, d.path("csrc/other.cc"), time.Hour) }, ""},
		{"a source and back again", func() { d.write("csrc/other.cc", other) }, "other.cc"},
		{"half an object", func() { write(t, d.path(object), string(d.read(object)[:100])) }, "other.cc"},
		{"an object of something else", func() {
			write(t, d.path(object), string(d.read("build/release/obj/csrc/scale.cc.o")))
		}, "other.cc"},
		{"no object", func() { remove(t, d.path(object)) }, "other.cc"},
		{"options of the compiler", func() { d.set(map[string]string{"CXX": "c++ -DEXTRA=4"}) }, "all"},
		{"other options", func() { d.set(map[string]string{"CXX": "c++ -DEXTRA=6"}) }, "all"},
		{"the same in quotes", func() { d.set(map[string]string{"CXX": `c++ "-DEXTRA=6"`}) }, ""},
		{"CPATH", func() { d.set(map[string]string{"CXX": "c++ -DEXTRA=6", "CPATH": extra}) }, "all"},
		{"unreadable records", func() { d.write("build/release/records.json", "{") }, "all"},
		{"a header that takes the place of another", func() {
			d.Project.Manifest.Include = []string{"include"}
			d.write("include/empty.txt", "")
		}, "all"},
		{"a header that a file asks for", func() {
			d.write("csrc/other.cc", other+"#if __has_include(\"fast.h\")\n#include \"fast.h\"\n#endif\n")
		}, "other.cc"},
		{"that header", func() { d.write("csrc/fast.h", "inline int Fast() { return 1; }\n") }, "other.cc"},
		{"an environment with other headers", func() {
			include := filepath.Join(extra, "include")
			d.Env.TVMInclude = include
			write(t, filepath.Join(include, "ffi.h"), "#include \"opcast/kernel.h\"\nextern \"C\" int TVMFFIHost();\n// newer\n")
		}, "scale.gen.cc"},
		{"the header itself", func() {
			d.write("include/factor.h", "#pragma once\ninline int Factor() { return 3; }\n")
		}, "scale.cc"},
	}
	for _, s := range steps {
		s.edit()
		want := s.want
		if want == "all" {
			want = "other.cc parallel.cc scale.cc scale.gen.cc"
		}
		got := d.compiled()
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: compiled %q, want %q", s.name, got, want)
		}
	}
}

func age(t *testing.T, file string, by time.Duration) {
	t.Helper()
	when := time.Now().Add(by)
	if err := os.Chtimes(file, when, when); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// TestLibrariesOfOthers: a library that link names is linked again when it has changed, wherever it lies.
func TestLibrariesOfOthers(t *testing.T) {
	d := newDemo(t)
	dir := t.TempDir()
	archive := func(value string) {
		write(t, filepath.Join(dir, "one.c"), "int one(void) { return "+value+"; }\n")
		for _, words := range [][]string{{"cc", "-fPIC", "-c", "one.c"}, {"ar", "rcsD", "libone.a", "one.o"}} {
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", words, err, out)
			}
		}
	}
	archive("1")
	d.write("csrc/other.cc", "extern \"C\" int one();\nint Other() { return one(); }\n")
	d.write("backend/gen/scale.gen.cc", strings.Replace(demoFiles["backend/gen/scale.gen.cc"], "extern", "int Other();\nextern", 1)+
		"int (*volatile keep)() = Other;\n")
	d.Project.Manifest.Link = []string{"-L" + dir, "-lone"}
	d.compiled()
	before := d.read("build/release/libdemo.so")
	archive("2")
	if got := d.compiled(); len(got) > 0 {
		t.Errorf("compiled %v", got)
	}
	if slices.Equal(before, d.read("build/release/libdemo.so")) {
		t.Error("the old archive is still in the library")
	}
}

// TestCopyIsBuilt: a copy of a project with all that was built needs no compiler, and gives the same library.
func TestCopyIsBuilt(t *testing.T) {
	d := newDemo(t)
	d.compiled()
	want := d.read("build/release/libdemo.so")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(d.Project.Dir)); err != nil {
		t.Fatal(err)
	}
	copied := *d.Project
	copied.Dir = dir
	d.Project = &copied
	if got := d.compiled(); len(got) > 0 {
		t.Errorf("the copy compiled %v", got)
	}
	if !slices.Equal(want, d.read("build/release/libdemo.so")) {
		t.Error("the copy has another library")
	}
	d.write("csrc/other.cc", demoFiles["csrc/other.cc"]+"// edited\n")
	if got := d.compiled(); !slices.Equal(got, []string{"other.cc"}) {
		t.Errorf("after an edit the copy compiled %v", got)
	}
}

// TestEditWhileCompiling: a compiler that is overtaken by an edit leaves nothing behind that counts.
func TestEditWhileCompiling(t *testing.T) {
	d := newDemo(t)
	script := filepath.Join(t.TempDir(), "slow")
	// It compiles what there is, and then somebody saves another text, once.
	write(t, script, `#!/bin/sh
c++ "$@" || exit
case "$*" in *other.cc*) if [ -e `+d.path("next.txt")+` ]; then mv `+d.path("next.txt")+" "+d.path("csrc/other.cc")+`; fi ;; esac
`)
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	d.write("next.txt", "#include \"opcast/kernel.h\"\nint Other() { return 7 + opcast::One(); }\n")
	d.set(map[string]string{"CXX": script})
	if got := d.compiled(); strings.Count(strings.Join(got, " "), "other.cc") != 2 {
		t.Errorf("compiled %v, want other.cc twice", got)
	}
	fresh := newDemo(t)
	fresh.write("csrc/other.cc", string(d.read("csrc/other.cc")))
	fresh.compiled()
	if !slices.Equal(fresh.read("build/release/libdemo.so"), d.read("build/release/libdemo.so")) {
		t.Error("the library differs from that of a fresh project")
	}
}

// TestKilledBuild: after `kill -9` of a build, its compilers end or keep the lock, so that they cannot overwrite what a
// later build has made.
func TestKilledBuild(t *testing.T) {
	d := newDemo(t)
	dir := t.TempDir()
	begun := filepath.Join(dir, "begun")
	script := filepath.Join(dir, "slow")
	write(t, script, "#!/bin/sh\ntrap '' INT\ncase \"$*\" in *other.cc*) : > "+begun+"; sleep 1 ;; esac\nc++ \"$@\"\n")
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
	write(t, script, "#!/bin/sh\ncase \"$*\" in *other.cc*) : > "+begun+"; sleep 1 ;; esac\nc++ \"$@\"\n")
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

// TestBuildStaysInside: whatever a project links, building it changes nothing outside.
func TestBuildStaysInside(t *testing.T) {
	outside := t.TempDir()
	for _, name := range []string{"opcast/kept.h", "lib/kept.so", "kept.txt"} {
		write(t, filepath.Join(outside, name), "kept")
	}
	before := snapshot(t, outside)
	for _, link := range []string{
		"build", "build/runtime", "build/runtime/opcast", "build/release", "build/release/obj", "build/release/work",
		"build/release/records.json", "build/release/libdemo.so", object, "build/compile_commands.json", "build/.lock",
		"backend/python/src/demo_backend/lib", "backend/python/src/demo_backend/lib/libdemo.so",
		"backend/python/src/demo_backend", "backend/python/src/demo_backend/source", "backend/python/src/demo_backend/source.new",
	} {
		t.Run(link, func(t *testing.T) {
			d := newDemo(t)
			target := outside
			if filepath.Ext(link) != "" && link != "build/.lock" {
				target = filepath.Join(outside, "kept.txt")
			}
			if err := os.MkdirAll(filepath.Dir(d.path(link)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, d.path(link)); err != nil {
				t.Fatal(err)
			}
			lock, locked := LockProject(t.Context(), d.Project.Dir, io.Discard)
			if locked == nil {
				lock.Release()
			}
			_, _, log, built := d.build()
			_, packed := Pack(d.Project, demoRuntime)
			if after := snapshot(t, outside); !maps.Equal(before, after) {
				t.Fatalf("outside was %v and is %v", before, after)
			}
			for _, err := range []error{locked, built, packed} {
				if err != nil && !strings.Contains(err.Error(), "is a link that leads out of") {
					t.Errorf("unclear: %v\n%s", err, log)
				}
			}
		})
	}
}

// TestPackReadsInside: a package carries no file from outside of its project.
func TestPackReadsInside(t *testing.T) {
	d := newDemo(t)
	secret := filepath.Join(t.TempDir(), "secret.h")
	write(t, secret, "secret")
	if err := os.Symlink(secret, d.path("csrc/secret.h")); err != nil {
		t.Fatal(err)
	}
	if err := LayRuntime(d.Project.Dir, demoRuntime); err != nil {
		t.Fatal(err)
	}
	_, err := Pack(d.Project, demoRuntime)
	if err == nil || !strings.Contains(err.Error(), "csrc/secret.h is a link that leads out of") {
		t.Errorf("error %v", err)
	}
}

// snapshot is what a folder holds, by names.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "folder"
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
