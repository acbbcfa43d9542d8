package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/report"
)

// TestInference builds the second collection of this repository with the commands that its README gives, and expects the
// suite to find nothing wrong with any of its ops in any framework.
func TestInference(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "inference")
	for _, part := range []string{"opcast.toml", "opdefs", "csrc"} {
		source := filepath.Join(root(t), "examples", "inference", part)
		if info, err := os.Stat(source); err != nil {
			t.Fatal(err)
		} else if !info.IsDir() {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, part), text)
			continue
		}
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
	}
	interpreter := borrowed(t)
	mustOpcast(t, "-C", dir, "build", "--python", interpreter)
	code, stdout, stderr := opcast(t, "-C", dir, "test", "--python", interpreter, "--report", filepath.Join(dir, "report"))
	r, err := report.Read(filepath.Join(dir, "report", "report.json"))
	if err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	passed := map[string]int{}
	for _, one := range r.Results {
		if one.Status.Bad() {
			t.Errorf("%s %s %s %s: %s", one.Op, one.Adaptor, one.Check, one.DType, one.Reason)
		}
		if one.Status == report.Pass {
			passed[one.Adaptor]++
		}
	}
	for _, adaptor := range []string{"torch", "jax", "numpy", "backend", "native"} {
		if passed[adaptor] < 100 {
			t.Errorf("%s: only %d results passed", adaptor, passed[adaptor])
		}
	}
	mustOpcast(t, "-C", dir, "run", "merge_states", "--workload", "llama_8b_decode", "--python", interpreter, "--repeat", "1")
}
