package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/internal/system/cache"
	"github.com/opcast/opcast/internal/testkit/tooltest"
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
		{"half an object", func() { tooltest.Write(t, d.path(object), string(d.read(object)[:100])) }, "other.cc"},
		{"an object of something else", func() {
			tooltest.Write(t, d.path(object), string(d.read("build/release/obj/csrc/scale.cc.o")))
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
			tooltest.Write(t, filepath.Join(include, "ffi.h"), "#include \"opcast/kernel.h\"\nextern \"C\" int TVMFFIHost();\n// newer\n")
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
		tooltest.Write(t, filepath.Join(dir, "one.c"), "int one(void) { return "+value+"; }\n")
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
	const asks = "#include \"opcast/kernel.h\"\n#if __has_include(\"seven.h\")\n#include \"seven.h\"\n#else\n#define SEVEN 0\n#endif\n" +
		"int Other() { return SEVEN + opcast::One(); }\n"
	for file, next := range map[string]string{
		"csrc/other.cc": "#include \"opcast/kernel.h\"\nint Other() { return 7 + opcast::One(); }\n",
		"csrc/seven.h":  "#define SEVEN 7\n",
	} {
		t.Run(file, func(t *testing.T) {
			d := newDemo(t)
			script := filepath.Join(t.TempDir(), "slow")
			// It compiles what there is, and then somebody saves another text, once.
			tooltest.Write(t, script, `#!/bin/sh
c++ "$@" || exit
case "$*" in *"-c csrc/other.cc"*) if [ -e `+d.path("next.txt")+` ]; then mv `+d.path("next.txt")+" "+d.path(file)+`; fi ;; esac
`)
			if err := os.Chmod(script, 0o755); err != nil {
				t.Fatal(err)
			}
			d.write("csrc/other.cc", asks)
			d.write("next.txt", next)
			d.set(map[string]string{"CXX": script})
			d.Objects = cache.Open(filepath.Join(t.TempDir(), "objects"))
			if got := d.compiled(); strings.Count(strings.Join(got, " "), "other.cc") != 2 {
				t.Errorf("compiled %v, want other.cc twice", got)
			}
			fresh := newDemo(t)
			fresh.write("csrc/other.cc", string(d.read("csrc/other.cc")))
			fresh.write(file, next)
			fresh.compiled()
			if !slices.Equal(fresh.read("build/release/libdemo.so"), d.read("build/release/libdemo.so")) {
				t.Error("the library differs from that of a fresh project")
			}
			removeAll(t, d.path("build"))
			if d.compiled(); !slices.Equal(fresh.read("build/release/libdemo.so"), d.read("build/release/libdemo.so")) {
				t.Error("the cache has kept what was overtaken")
			}
		})
	}
}
