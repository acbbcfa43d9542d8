package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/load"
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

// A result is made of the samples of several processes: of peers only where they were measured as often as the op, and with what
// failed in any of them.
func TestResultOfSeveralProcesses(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python: run make test")
	}
	const script = `
import sys; sys.path.insert(0, ".")
from kernel_lines import pooled, told
def line(op, **samples):
    return {"op": op, "dtype": "float32", "shape": "2x2", "mode": "fresh", "bytes": 8000, "flops": 0, "samples": samples, "failed": {}}
died = line("b") | {"failed": {"opcast": "died"}}; del died["samples"], died["flops"]
first = [line("a", opcast=[1000, 2000], torch=[2000, 2000], jax=[500, 500], slow=[9000]), died]
second = [line("a", opcast=[4000, 4000], torch=[4000, 2000], slow=[9000]), line("b", opcast=[8.0, 8.0]), line("c", opcast=[2.0, 2.0], torch=[2.0, 2.0])]
for found in map(told, pooled([first, second])):
    print(found["op"], found.get("us"), found.get("rounds"), found.get("ratio"), found.get("ratio_quartiles"), found.get("beside"), found.get("peers_us"), found.get("failed"))
assert told(died) == died
`
	const want = `a 3.0 4 1.0 [0.875, 1.25] torch {'torch': 2.0, 'jax': 0.5, 'slow': 9.0} None
b 0.008 2 None None None {} {'opcast': 'died'}
c 0.002 2 1.0 [1.0, 1.0] torch {'torch': 0.002} None
`
	out, err := exec.CommandContext(t.Context(), python, "-c", script).CombinedOutput()
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}
