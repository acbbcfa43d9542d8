package tree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{
		"a.cc", "csrc/x.cc", "csrc/x.h", "csrc/deep/er/y.cc", "csrc/.git/z.cc", "csrc/build/z.cc", "build/w.cc",
		"csrc/.x.cc", "backend/python/src/demo_backend/source/csrc/x.cc", "more/real.cc",
	} {
		tooltest.Write(t, filepath.Join(dir, f), "")
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
			got, err := Glob(dir, pattern)
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
