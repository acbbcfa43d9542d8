package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// derivativesProject lays out the ops of the example that compute an op's derivatives, of every order and mode, and some
// whose derivatives depend on more.
func derivativesProject(t *testing.T) string {
	t.Helper()
	dir, example := t.TempDir(), filepath.Join(root(t), "examples", "inference")
	for _, pattern := range []string{"opdefs/swiglu*.toml", "csrc/cpu/swiglu.cc", "csrc/cpu/numbers.h"} {
		files, err := filepath.Glob(filepath.Join(example, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, filepath.Dir(pattern), filepath.Base(file)), text)
		}
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "derivatives.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
	write(t, filepath.Join(dir, "opcast.toml"), []byte(`name = "curved"
namespace = "inference"
version = "0.1.0"
license = "MIT"
adaptors = ["torch", "jax", "paddle"]
sources = ["csrc/cpu/*.cc"]
`))
	return dir
}

// Hessians, double backward and forward mode are right wherever the definitions name the ops, and a wrong one is found.
func TestDerivatives(t *testing.T) {
	t.Parallel()
	dir, interpreter := derivativesProject(t), borrowed(t)
	mustOpcast(t, "build", "-C", dir, "--python", interpreter)
	script := filepath.Join(root(t), "internal", "e2e", "testdata", "derivatives.py")
	told := run(t, command(t, dir, interpreter, "-W", "ignore", script, "curved"))
	for _, line := range strings.Split(strings.TrimSpace(told), "\n") {
		if !strings.HasSuffix(line, " agree") && !strings.HasSuffix(line, "check True") && !strings.Contains(line, " refuses: swiglu_forward: no ") {
			t.Error(line)
		}
	}
	if n := strings.Count(told, " agree"); n < 20 {
		t.Errorf("only %d ways agree", n)
	}
	tried := []string{"-C", dir, "--only", only(t, "value", "gradient", "tangent", "grad-second", "forward-mode"), "--adaptor"}
	ways, finders := [][]string{{"torch,jax,paddle"}}, "torch,jax,paddle"
	if testing.Short() { // JAX takes as long as the others together, and the script has called it
		ways = [][]string{{"torch,paddle"}, {"jax", "bend", "bend_backward", "bend_forward", "bend_forward_backward"}}
		finders = "torch"
	}
	for _, way := range ways {
		if wrong, printed := wrongWith(t, interpreter, slices.Concat(tried, way)); len(wrong) > 0 {
			t.Errorf("failed: %q\n%s", wrong, printed)
		}
	}
	const empty = "import torch, curved_torch\ntry: torch.ops.inference.square.default([], None, torch.tensor(5.0))\nexcept ValueError as e: print(e)"
	if told := run(t, command(t, dir, interpreter, "-c", empty)); !strings.Contains(told, "square: x: expected at least 1 array, got 0") {
		t.Errorf("an empty list in PyTorch's registry: %s", told) // the kernel in C++ has no array to ask for the device
	}
	blamed := []string{"-C", dir, "--adaptor", "torch,jax,paddle,backend", "--only", only(t, "value", "dynamic", "no-device", "errors", "precedence", "error-agreement", "dtensor", "vmap", "not-copied", "warnings"), "bend_forward", "nothing", "square", "shade", "hollow"}
	if wrong, printed := wrongWith(t, interpreter, blamed); len(wrong) > 0 {
		t.Errorf("failed: %q\n%s", wrong, printed)
	}
	edit(t, filepath.Join(dir, "csrc", "cpu", "swiglu.cc"), "of_gate * up * silu.bend", "of_gate * silu.bend")
	edit(t, filepath.Join(dir, "csrc", "cpu", "swiglu.cc"), "by_gate + Widen", "by_gate - Widen")
	edit(t, filepath.Join(dir, "opdefs", "swiglu_backward_forward.toml"), "tangent_gate * up * bend", "tangent_gate * bend")
	ops := []string{finders, "swiglu", "swiglu_backward", "swiglu_forward", "swiglu_backward_backward"}
	wrong, printed := wrongWith(t, interpreter, append(tried, ops...))
	for _, want := range []string{"swiglu_backward_backward value", "swiglu_forward value", "swiglu_backward tangent"} {
		if !slices.Contains(wrong, want) {
			t.Errorf("%s did not fail: %q\n%s", want, wrong, printed)
		}
	}
	if slices.Contains(wrong, "swiglu value") || slices.Contains(wrong, "swiglu_backward gradient") {
		t.Errorf("what is right failed: %q\n%s", wrong, printed)
	}
}

// wrongWith runs the suite and returns what failed, as "op check".
func wrongWith(t *testing.T, interpreter string, words []string) (wrong []string, printed string) {
	t.Helper()
	folder := t.TempDir()
	words = append([]string{tooltest.Path(t), "test", "--python", interpreter, "--report", folder}, words...)
	out, err := command(t, "", words...).CombinedOutput()
	r, unread := report.Read(filepath.Join(folder, report.File))
	if unread != nil {
		t.Fatalf("%v: %v\n%s", err, unread, out)
	}
	for _, result := range r.Results {
		if result.Status.Bad() {
			wrong = append(wrong, result.Op+" "+result.Check)
		}
	}
	return wrong, string(out)
}
