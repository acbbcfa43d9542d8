package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/opdef/load"
)

// TestEveryWorkloadHasPeers holds the list of workloads.py against the definitions: an op with workloads, or whose gradients it
// has, is measured beside what users of other libraries write.
func TestEveryWorkloadHasPeers(t *testing.T) {
	project, findings, err := load.Load("..")
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	script, err := os.ReadFile("workload_run.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range project.Ops {
		measured := len(op.Workloads) > 0 || op.GradientOf != nil && len(op.GradientOf.Workloads) > 0
		if measured && !bytes.Contains(script, []byte("\n    \""+op.Name+"\":")) {
			t.Errorf("workload_run.py has no peers of %s", op.Name)
		}
	}
}

// TestTable holds the table of kernels in README.md against the results that are checked in. It needs no package of Python's.
func TestTable(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python: run make test")
	}
	want, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(file, want, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), python, "kernels.py", "--markdown", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("run .venv/bin/python bench/kernels.py --markdown bench/README.md")
	}
}
