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
	for name, options := range map[string]string{"sse2": "", "fma": "-mavx2 -mfma -mf16c"} {
		t.Run(name, func(t *testing.T) {
			if name == "fma" && !cpu.X86.HasFMA {
				t.Skip("this machine has no FMA")
			}
			dir, program := filepath.Join(root(t), "csrc", "tests"), filepath.Join(t.TempDir(), "ulp")
			words := slices.Concat(compiler(t), strings.Fields(options), []string{"-std=c++17", "-O3", "-Wall", "-Wextra", "-Werror",
				"-ffp-contract=off", "-I", "../../backend", "ulp.cc", "-o", program})
			run(t, command(t, dir, words...))
			t.Log(run(t, command(t, dir, program, "4099")))
		})
	}
}
