package build

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/system/cache"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// TestObjectsOfOtherBuilds: what another project has compiled, or this one before, is compiled again only if it would be something else.
func TestObjectsOfOtherBuilds(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "objects")
	first, d := newDemo(t), newDemo(t)
	first.Objects, d.Objects = cache.Open(folder), cache.Open(folder)
	first.compiled()
	other := demoFiles["csrc/other.cc"]
	asking := other + "#if __has_include(\"fast.h\")\n#include \"fast.h\"\n#endif\n"
	all := "other.cc parallel.cc scale.cc scale.gen.cc"
	for _, s := range []struct {
		name string
		edit func()
		want string
	}{
		{"the same project elsewhere", func() {}, ""},
		{"a source", func() { d.write("csrc/other.cc", asking) }, "other.cc"},
		{"a header", func() { d.write("csrc/factor.h", "#pragma once\ninline int Factor() { return 3; }\n") }, "scale.cc"},
		{"the source before", func() { d.write("csrc/other.cc", other) }, ""},
		{"both", func() { d.write("csrc/other.cc", asking); d.write("csrc/factor.h", demoFiles["csrc/factor.h"]) }, ""},
		{"a header that the source asks for", func() { d.write("csrc/fast.h", "inline int Fast() { return 1; }\n") }, "other.cc"},
		{"no such header", func() { remove(t, d.path("csrc/fast.h")) }, ""},
		{"no build folder", func() { removeAll(t, d.path("build")) }, ""},
		{"options of the compiler", func() { d.set(map[string]string{"CXX": "c++ -DEXTRA=4"}) }, all},
		{"a warning", func() { d.write("csrc/other.cc", other+"static int unused;\n") }, "other.cc"},
		{"no build folder, so that it is seen again", func() { removeAll(t, d.path("build")) }, "other.cc"},
		{"options for this machine", func() { d.set(map[string]string{"CXX": "c++ -mtune=native"}) }, all},
		{"no build folder, on what may be another machine", func() { removeAll(t, d.path("build")) }, all},
		{"other options", func() { d.set(map[string]string{"CXX": "c++ -DEXTRA=5"}); d.write("csrc/other.cc", other) }, all},
		{"no build folder, half a cache", func() { removeAll(t, d.path("build")); halve(t, folder) }, all},
		{"no build folder, a cache that others can write", func() {
			removeAll(t, d.path("build"))
			if err := os.Chmod(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			d.Objects = cache.Open(folder)
		}, all},
	} {
		s.edit()
		got := d.compiled()
		slices.Sort(got)
		if strings.Join(got, " ") != s.want {
			t.Errorf("%s: compiled %q, want %q", s.name, got, s.want)
		}
		if s.name == "the same project elsewhere" && !bytes.Equal(first.read("build/release/libdemo.so"), d.read("build/release/libdemo.so")) {
			t.Error("the libraries differ")
		}
	}
}

// TestObjectsOfAFailedBuild: a build that fails keeps the objects of what did compile.
func TestObjectsOfAFailedBuild(t *testing.T) {
	d := newDemo(t)
	d.Objects = cache.Open(filepath.Join(t.TempDir(), "objects"))
	d.write("csrc/other.cc", "not C++\n")
	if _, _, log, err := d.build(); err == nil || !strings.Contains(log, "error") {
		t.Fatalf("%v\n%s", err, log)
	}
	removeAll(t, d.path("build"))
	d.write("csrc/other.cc", demoFiles["csrc/other.cc"])
	if got := d.compiled(); !slices.Contains(got, "other.cc") || len(got) == 4 {
		t.Errorf("compiled %v, want other.cc and what ninja had not begun", got)
	}
}

// TestBuildLog: it knows which commands said something, and rewrites one line on a terminal.
func TestBuildLog(t *testing.T) {
	var out strings.Builder
	l := newBuildLog(&out)
	l.live = true
	for _, part := range []string{"[1/3] compile a", ".cc\n[2/3] compile b.cc\nb.cc:1: Warn", "ung\n[3/3] link x\nrest"} {
		if _, err := l.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	l.end()
	const want = "\r[1/3] compile a.cc\x1b[K\r[2/3] compile b.cc\x1b[K\nb.cc:1: Warnung\n\r[3/3] link x\x1b[K\nrest\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if l.spokeOf("a.cc") || !l.spokeOf("b.cc") {
		t.Errorf("spoke: %q", l.spoke)
	}
}

func removeAll(t *testing.T, folder string) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
}

// halve leaves only the first half of each file below a folder.
func halve(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			tooltest.Write(t, path, string(text[:len(text)/2]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
