package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// No function of a kernel for the CPU is called like one of a kernel for a GPU: of two inline functions or templates of one name,
// the linker keeps any, and a GPU's memory was read by a loop of the CPU. Namespaces of vendors and of the runtime are left out:
// what both sides take from there is the same.
func TestKernelsShareNoFunctions(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nm"); err != nil {
		t.Skip("nm is not on PATH, which comes with binutils")
	}
	onCPU, onGPU := functionsOf(t, "cpu"), functionsOf(t, "cuda")
	if len(onCPU) == 0 {
		t.Fatal("kernels for the CPU have no functions")
	}
	if len(onGPU) == 0 {
		t.Skip("the library was built without kernels for CUDA")
	}
	for name := range onGPU {
		if onCPU[name] {
			t.Errorf("kernels for the CPU and for CUDA both have %s", name)
		}
	}
}

// functionsOf are the names of what the objects of a folder of kernels define for others, in the collection's namespace.
func functionsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	objects, err := filepath.Glob(filepath.Join(root(t), "build/release/obj/csrc", folder, "*", "*.o"))
	if err != nil || len(objects) == 0 {
		return names
	}
	told := run(t, command(t, root(t), append([]string{"nm", "--demangle", "--defined-only", "--extern-only"}, objects...)...))
	for line := range strings.Lines(told) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3) // address, kind, name
		if len(words) == 3 && slices.Contains([]string{"W", "V", "T", "u"}, words[1]) && strings.Contains(words[2], "opcast_ops::") {
			names[words[2]] = true
		}
	}
	return names
}
