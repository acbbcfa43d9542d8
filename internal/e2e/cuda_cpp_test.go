package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The emulator runs grids, barriers, shuffles and matrix products, in orders that show a missing barrier, and ends the program where
// threads diverge, are too many or leave their shared memory.
func TestEmulator(t *testing.T) {
	const source = "backend/tests/emulator_test.cu"
	t.Log(run(t, command(t, root(t), emulatorProgram(t, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-x", "c++", source))))
	program := emulatorProgram(t, "-fsanitize=bounds", "-fno-sanitize-recover=bounds", "-x", "c++", source)
	t.Log(run(t, command(t, root(t), program)))
	for misuse, want := range map[string]string{
		"warp":    "not all threads of a warp come to one barrier:\n  from thread 0 on: SyncWarp:0\n  from thread 1 on: returned:0\n",
		"block":   "from thread 40 on: returned:0\n",
		"bound":   "emulator: Bounded: 64 threads in a block, but its launch bound is 32\n",
		"behind":  "emulator: a block wrote 0 bytes behind its 60 of shared memory\n",
		"element": "of an array 'double [8]'\n",
	} {
		out, err := command(t, root(t), program, misuse).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("misuse %s: %v, printed %q, want %q in it", misuse, err, out, want)
		}
	}
}

// The activations are within a few units in the last place of formulas in long double.
func TestCUDAGates(t *testing.T) {
	program := emulatorProgram(t, "-O2", "-I", "csrc", "csrc/tests/cuda_gates.cc")
	t.Log(run(t, command(t, root(t), program)))
}

// emulatorProgram compiles a test with the emulator.
func emulatorProgram(t *testing.T, args ...string) string {
	t.Helper()
	return cppProgram(t, append([]string{"-DOPCAST_EMULATOR", "-I", "backend/emulator", "backend/tests/direct_runtime.cc",
		"backend/emulator/emulator.cc", "backend/emulator/bounds.cc", "backend/emulator/fiber.cc"}, args...)...)
}

// Without a GPU, what the runtime asks of one comes back with the driver's text.
func TestGPUWithoutADriver(t *testing.T) {
	cuda := filepath.Join(tvm(t).Site, "nvidia", "cu13")
	t.Log(run(t, command(t, root(t), cppProgram(t, "-isystem", filepath.Join(cuda, "include"), "backend/tests/gpu_test.cc",
		"-x", "c++", "backend/opcast/gpu_cuda.cu", "-x", "none", filepath.Join(cuda, "lib", "libcudart_static.a"), "-ldl", "-lrt"))))
}

// cppProgram compiles a program in the repository.
func cppProgram(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler")
	}
	program := filepath.Join(t.TempDir(), "test")
	run(t, command(t, root(t), append([]string{"c++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread",
		"-ffp-contract=off", "-I", "backend", "-I", "backend/gen", "-o", program}, args...)...))
	return program
}
