package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/report"
)

// A kernel that calls a library of others takes calls where the library is found, and says what it needs elsewhere. The suite
// finds nothing wrong with either kernel of the example.
func TestKernelOfAnotherLibrary(t *testing.T) {
	const where = "from importlib import util; found = util.find_spec('scipy_openblas32'); print(found.origin if found else '')"
	origin := strings.TrimSpace(run(t, command(t, root(t), python(t), "-P", "-c", where)))
	if origin == "" {
		t.Skip("the environment has no scipy-openblas32: make build installs it")
	}
	dir, interpreter := exampleProject(t, "openblas"), borrowed(t)
	mustOpcast(t, "-C", dir, "build", "--python", interpreter)
	for _, tt := range []struct{ name, library, kernel, explained string }{
		{"found", filepath.Join(filepath.Dir(origin), "lib", "libscipy_openblas.so"), "matmul_openblas", "matmul_openblas  on cpu  yes"},
		{"not found", "libnobody_has_this.so", "matmul_plain", "this machine lacks OpenBLAS, whose path LINALG_OPENBLAS can give: libnobody_has_this.so: "},
		{"another library", "libm.so.6", "matmul_plain", "this machine lacks OpenBLAS of scipy-openblas32: LINALG_OPENBLAS names another library"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("LINALG_OPENBLAS", tt.library)
			text, _ := mustOpcast(t, "-C", dir, "explain", "matmul", "--shape", "a=64x32:f32", "--shape", "b=32x16", "--python", interpreter)
			if !strings.Contains(text, tt.explained) {
				t.Errorf("want %q in\n%s", tt.explained, text)
			}
			folder := t.TempDir()
			code, stdout, stderr := opcast(t, "-C", dir, "test", "--fast", "--python", interpreter, "--report", folder)
			r, err := report.Read(filepath.Join(folder, report.File))
			if err != nil || code != 0 {
				t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
			}
			ran := map[string]bool{}
			for _, errors := range r.ULPs {
				ran[errors.Kernel] = true
			}
			if !ran[tt.kernel] {
				t.Errorf("kernels that ran: %v, want %s", ran, tt.kernel)
			}
		})
	}
}
