package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
)

// TestFunctionsOfFloat holds the functions that kernels are made of against the C library's, for some floats; `make ulp`
// tries all.
func TestFunctionsOfFloat(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]string{"sse2": "", "fma": "-mavx2 -mfma -mf16c"} {
		t.Run(name, func(t *testing.T) {
			if name == "fma" && !cpu.X86.HasFMA {
				t.Skip("this machine has no FMA")
			}
			t.Log(run(t, command(t, "", kernelTest(t, "ulp", strings.Fields(options)...), "4099")))
		})
	}
}

// TestNumbersOfEightBits holds the conversions that kernels have for vectors against the runtime's.
func TestNumbersOfEightBits(t *testing.T) {
	t.Parallel()
	t.Log(run(t, command(t, "", kernelTest(t, "fp8"))))
}

// TestLoopsOfKernels holds the loops and sums that kernels share against plain ones.
func TestLoopsOfKernels(t *testing.T) {
	t.Parallel()
	t.Log(run(t, command(t, "", kernelTest(t, "map"))))
}

// TestSumsOfRows holds sums that kernels compute in float, where that suffices, against sums in double.
func TestSumsOfRows(t *testing.T) {
	t.Parallel()
	t.Log(run(t, command(t, "", kernelTest(t, "sums"))))
}

// TestRandomNumbers holds the generator of random numbers against the known answers of its authors, and its vectors against it.
func TestRandomNumbers(t *testing.T) {
	t.Parallel()
	t.Log(run(t, command(t, "", kernelTest(t, "philox"))))
}

// kernelTest compiles a program that tests what kernels are made of.
func kernelTest(t *testing.T, name string, options ...string) (program string) {
	t.Helper()
	dir := filepath.Join(root(t), "csrc", "tests")
	program = filepath.Join(t.TempDir(), name)
	words := slices.Concat(cxxWords(t), options, []string{"-std=c++17", "-O3", "-Wall", "-Wextra", "-Werror",
		"-ffp-contract=off", "-I", "../../backend", "-I", "../../backend/gen", "-I", "..", name + ".cc", "-o", program})
	run(t, command(t, dir, words...))
	return program
}
