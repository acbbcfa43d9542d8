package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/pyenv"
)

// The runtime's tests are plain programs that end with "ok N checks": one for what kernels see, one for the rules on
// tensors as a C caller sends them.
func TestCPPRuntime(t *testing.T) { cppTest(t, "runtime_test.cc", kernelSide) }

func TestCPPRules(t *testing.T) {
	env, err := pyenv.Find(t.Context(), pyenv.Query{Python: python(t), Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	cppTest(t, "ffi_test.cc", func(name string) bool { return !callsFFI(name) }, "-isystem", env.TVMInclude)
}

// kernelSide are the units of the runtime without tvm-ffi's headers, callsFFI those that need its library.
func kernelSide(name string) bool { return !strings.HasPrefix(name, "ffi") && !callsFFI(name) }

func callsFFI(name string) bool { return name == "ffi_export.cc" || name == "registry.cc" }

// cppTest compiles a test with the wanted units of the runtime and runs it.
func cppTest(t *testing.T, test string, wanted func(name string) bool, flags ...string) {
	t.Helper()
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler")
	}
	backend := filepath.Join(root(t), "backend")
	units, err := filepath.Glob(filepath.Join(backend, "opcast", "*.cc"))
	if err != nil {
		t.Fatal(err)
	}
	units = slices.DeleteFunc(units, func(path string) bool { return !wanted(filepath.Base(path)) })
	program := filepath.Join(t.TempDir(), "test")
	args := append([]string{"c++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-ffp-contract=off",
		`-DOPCAST_COLLECTION="test"`, "-I", backend, "-I", filepath.Join(backend, "gen"), "-o", program,
		filepath.Join(backend, "tests", test)}, flags...)
	run(t, command(t, backend, append(args, units...)...))
	t.Log(run(t, command(t, backend, program)))
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
