package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/manifest"
)

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{
		"a.cc", "csrc/x.cc", "csrc/x.h", "csrc/deep/er/y.cc", "csrc/.git/z.cc", "csrc/build/z.cc", "build/w.cc",
		"csrc/.x.cc", "backend/python/src/demo_backend/source/csrc/x.cc", "more/real.cc",
	} {
		write(t, filepath.Join(dir, f), "")
	}
	// Emacs locks a file with a link to nowhere.
	for link, target := range map[string]string{"csrc/.#x.cc": "me@here:1", "more/gone.cc": "nowhere", "more/folder.cc": "../csrc", "more/link.cc": "real.cc"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string][]string{
		"csrc/*.cc":      {"csrc/x.cc"},
		"csrc/**/*.cc":   {"csrc/deep/er/y.cc", "csrc/x.cc"},
		"**/*.cc":        {"a.cc", "csrc/deep/er/y.cc", "csrc/x.cc", "more/link.cc", "more/real.cc"},
		"more/*":         {"more/link.cc", "more/real.cc"},
		"csrc/**":        {"csrc/deep/er/y.cc", "csrc/x.cc", "csrc/x.h"},
		"./csrc/?.cc":    {"csrc/x.cc"},
		"build/*.cc":     {"build/w.cc"},
		"nowhere/**.cc":  nil,
		"csrc/x.cc":      {"csrc/x.cc"},
		"csrc/(x|y).cc":  nil,
		"csrc/deep/*.cc": nil,
	}
	for pattern, want := range tests {
		t.Run(pattern, func(t *testing.T) {
			got, err := glob(dir, pattern)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsSource(t *testing.T) {
	for name, want := range map[string]bool{
		"a.cc": true, "csrc/a.cuh": true, "a.inc": true, "a.toml": false, "a": false, ".#a.cc": false, "csrc/.a.h": false, ".h": false,
	} {
		if got := IsSource(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestFindSourcesErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "cuda", "k.cu"), "")
	in := inputs{project: &opdef.Project{Dir: dir, Manifest: manifest.Manifest{Devices: []string{"cpu"}}}}
	for pattern, want := range map[string]string{"cuda/*": `do not name "cuda"`} {
		in.project.Manifest.Sources = []string{pattern}
		if err := in.findUnits(demoRuntime, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", pattern, err, want)
		}
	}
}

// A project with a runtime of its own, as this repository is, uses that; stale embedded files go away.
func TestFindRuntime(t *testing.T) {
	dir := t.TempDir()
	embedded := fstest.MapFS{
		"opcast/kernel.h": {Data: []byte("1")}, "opcast/a.cc": {Data: []byte("1")}, "opcast/b.cu": {}, "opcast/c.hip": {}, "emulator/d.cc": {},
	}
	gone := filepath.Join(dir, "build/runtime/opcast/gone.cc")
	write(t, gone, "")
	got, err := findRuntime(dir, embedded)
	want := tree{
		"build/runtime", []string{"build/runtime/opcast/a.cc"}, []string{"build/runtime/opcast/b.cu"}, []string{"build/runtime/opcast/c.hip"},
		[]string{"build/runtime/emulator/d.cc"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tree{})); diff != "" || err != nil {
		t.Errorf("embedded: %v (-want +got):\n%s", err, diff)
	}
	if err := LayRuntime(dir, embedded); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("a stale file of the runtime is still there")
	}
	write(t, filepath.Join(dir, "backend/opcast/b.cc"), "")
	got, err = findRuntime(dir, nil)
	want = tree{"backend", []string{"backend/opcast/b.cc"}, nil, nil, nil}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tree{})); diff != "" || err != nil {
		t.Errorf("own: %v (-want +got):\n%s", err, diff)
	}
}
