package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The runtime's own test needs neither tvm-ffi nor Python.
func TestCPPRuntime(t *testing.T) {
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler")
	}
	backend := filepath.Join(root(t), "backend")
	var sources []string
	for _, pattern := range []string{"tests/*.cc", "opcast/*.cc"} {
		found, err := filepath.Glob(filepath.Join(backend, pattern))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, slices.DeleteFunc(found, speaksFFI)...)
	}
	program := filepath.Join(t.TempDir(), "runtime_test")
	args := []string{"c++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-ffp-contract=off",
		`-DOPCAST_COLLECTION="test"`, "-I", backend, "-I", filepath.Join(backend, "gen"), "-o", program}
	run(t, command(t, backend, append(args, sources...)...))
	run(t, command(t, backend, program))
}

// speaksFFI says whether a unit of the runtime includes tvm-ffi's headers.
func speaksFFI(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "ffi") || strings.HasPrefix(name, "registry")
}

// The example checks itself: accuracy, and equal bits in every adaptor.
func TestDigits(t *testing.T) {
	dir := root(t)
	t.Log(run(t, command(t, dir, python(t), filepath.Join("examples", "digits", "run.py"))))
}

// What the README and the page on errors show is what happens.
func TestReadme(t *testing.T) {
	dir := root(t)
	t.Log(run(t, command(t, dir, python(t), filepath.Join("examples", "check_readme.py"))))
}

// Help lists every target that is meant for people, and each of them can be planned.
func TestMakefile(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	var targets []string
	for _, line := range strings.Split(strings.TrimSpace(run(t, command(t, root(t), "make", "--no-print-directory"))), "\n") {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "make" {
			t.Fatalf("help prints %q, want a target and its purpose", line)
		}
		targets = append(targets, words[1])
	}
	want := []string{"help", "quickstart", "gen", "build", "check", "format", "lint", "test", "conformance", "bench", "clean"}
	if diff := cmp.Diff(want, targets); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	for _, target := range targets {
		run(t, command(t, root(t), "make", "--dry-run", target))
	}
}
