package build

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// TestBuildStaysInside: whatever a project links, building it changes nothing outside.
func TestBuildStaysInside(t *testing.T) {
	outside := t.TempDir()
	for _, name := range []string{"opcast/kept.h", "lib/kept.so", "kept.txt"} {
		tooltest.Write(t, filepath.Join(outside, name), "kept")
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
			_, packed := Pack(d.Project, demoRuntime, nil)
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
	tooltest.Write(t, secret, "secret")
	if err := os.Symlink(secret, d.path("csrc/secret.h")); err != nil {
		t.Fatal(err)
	}
	if err := tree.LayRuntime(d.Project.Dir, demoRuntime); err != nil {
		t.Fatal(err)
	}
	_, err := Pack(d.Project, demoRuntime, nil)
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

// Some systems have the linker read a script, which no program can load.
func TestLinkedBy(t *testing.T) {
	dir := t.TempDir()
	library, script := filepath.Join(dir, "libasan.so.8.0.0"), filepath.Join(dir, "libasan.so")
	tooltest.Write(t, library, "\x7fELF and more")
	tooltest.Write(t, script, "INPUT ( "+library+" )\n")
	commented := filepath.Join(dir, "libstdc++.so")
	tooltest.Write(t, commented, "/* GNU ld script */\nOUTPUT_FORMAT(elf64-x86-64)\nINPUT("+library+" -lmore)\n")
	for file, want := range map[string]string{library: library, script: library, commented: library, dir + "/none": "", "": ""} {
		if got := linkedBy(file); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}
