package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rocmSample are ops whose kernels between them use all that device.h has: reductions, shuffles, tensor cores and shared memory.
var rocmSample = []string{"eltwise_add", "gemm", "rms_norm", "topk"}

// Kernels for CUDA compile for AMD's GPUs, with no more shared memory than these have, and no registers in memory. A sample is
// compiled here; `make test-all` compiles all.
func TestUsageOfROCmKernels(t *testing.T) {
	t.Parallel()
	needHIP(t)
	dir, python := root(t), python(t)
	for _, op := range project(t).Ops {
		if !slices.Contains(rocmSample, op.Name) && testing.Short() {
			continue
		}
		stdout, _ := mustOpcast(t, "run", op.Name, "--gfx", "-C", dir, "--python", python)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if len(lines) < 2 {
			t.Errorf("%s: no kernel\n%s", op.Name, stdout)
		}
		for _, line := range lines[1:] {
			fields := strings.Fields(line) // arch, registers, scalars, local, spilled, shared, bytes, source, name
			shared, err := strconv.Atoi(fields[5])
			if err != nil || !strings.HasPrefix(fields[0], "gfx9") || fields[4] != "0" || shared > 64<<10 {
				t.Errorf("%s: %s", op.Name, line)
			}
		}
	}
}
