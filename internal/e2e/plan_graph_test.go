package e2e

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

//go:embed plan_graph.py
var planGraphScript string

// The plan and the run of examples/inference, with kernels for CUDA: both in one graph, and the run in a graph of its own, replayed with
// other plans and contents.
func TestPlanInGraphs(t *testing.T) {
	t.Parallel()
	python, tool, dir := withoutTorch(t), tooltest.Path(t), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root(t), "internal", "e2e", "plan"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"decode_plan.toml", "decode_run.toml", "decode_run.py"} {
		write(t, filepath.Join(dir, "opdefs", name), read(t, filepath.Join(root(t), "examples", "inference", "opdefs", name)))
	}
	run(t, command(t, dir, tool, "build", "--device", "emulated", "--python", python))
	only := filepath.Join(dir, "only")
	write(t, only, []byte("* backend value\n* backend sizes\n* backend zero-size\n* backend graph\n"))
	t.Log(run(t, command(t, dir, tool, "test", "--device", "emulated", "--no-build", "--only", only, "--python", python)))
	compares(t, dir, planGraphScript, "19")
}
