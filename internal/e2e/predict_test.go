package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A collection of somebody else: its workload gets a prediction from the code that was compiled, and its hot loop, which reads numbers
// of two bytes one by one, is found until the source allows it.
func TestPredict(t *testing.T) {
	t.Parallel()
	python := borrowed(t)
	dir := filepath.Join(t.TempDir(), "demo")
	mustOpcast(t, "init", dir, "--device", "cpu,cuda")
	manifest := filepath.Join(dir, "opcast.toml")
	if err := os.WriteFile(manifest, []byte(string(read(t, manifest))+"adaptors = [\"numpy\"]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	definition := filepath.Join(dir, "opdefs/example_relu.toml")
	if err := os.WriteFile(definition, []byte(string(read(t, definition))+"\n[workloads]\nstep = { \"*\" = [4096, 4096], T = \"bf16\" }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, _ := mustOpcast(t, "predict", "-C", dir, "--python", python, "--json", "--gpu", "h200")
	var table struct {
		GPU, Arch string
		Rows      []struct {
			Op, Workload, DType, Variant, Bound string
			Time                                float64 `json:"time_ns"`
			PerElement                          float64 `json:"instructions_per_element"`
			Flags                               []string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &table); err != nil || len(table.Rows) != 1 {
		t.Fatal(err, stdout)
	}
	// 64 MiB at 4300 bytes per ns take 15.6 µs, and a loop of so few instructions for 2 bytes takes longer.
	row := table.Rows[0]
	if table.GPU != "h200" || table.Arch != "sm_90" || row.Op != "example_relu" || row.Variant != "example_relu_cuda" || row.DType != "bf16" ||
		row.Time < 15_600 || row.Time > 200_000 || row.PerElement < 4 || row.PerElement > 40 || strings.Join(row.Flags, " ") != "narrow" {
		t.Errorf("got %+v", table)
	}
	sass := []string{"sass", "example_relu", "-C", dir, "--python", python, "--no-build"}
	code, stdout, _ := opcast(t, sass...)
	if want := "csrc/cuda/example_relu.cu: ExampleReluKernel: narrow in a hot loop: "; code != 1 || !strings.Contains(stdout, want) ||
		!regexp.MustCompile(`(?m)^sm_90 .*×LDG\.16.* ExampleReluKernel$`).MatchString(stdout) {
		t.Errorf("sass: exit code %d, want 1 and %q\n%s", code, want, stdout)
	}
	mustOpcast(t, append(sass, "--allow")...)
	if stdout, _ := mustOpcast(t, sass...); !strings.Contains(stdout, "0 forbidden in hot loops, 1 allowed, 0 exceptions for nothing") {
		t.Errorf("sass after --allow: %s", stdout)
	}
}

// No kernel of this repository has generic accesses, calls, narrow loads or doubles in a hot loop unless its file says why. The objects
// are those of the last build for CUDA: `make test-all` makes one, `make test` does not.
func TestHotLoopsOfCUDAKernels(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := opcast(t, "sass", "-C", root(t), "--python", python(t), "--no-build")
	if code == 3 || strings.Contains(stderr, "build first") {
		t.Skip("nothing was compiled for CUDA: " + stderr)
	}
	if code != 0 {
		t.Errorf("exit code %d: opcast sass --allow writes the exceptions, whose reasons are then yours\n%s%s", code, stdout, stderr)
	}
}
