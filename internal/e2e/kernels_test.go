package e2e

import (
	_ "embed"
	"testing"
)

//go:embed kernels.py
var kernelsScript string

// Large gradients are right, and have the same bits whatever the number of threads.
func TestLargeGradients(t *testing.T) {
	bits := map[string]string{}
	for _, threads := range []string{"1", "2", "5"} {
		cmd := command(t, t.TempDir(), python(t), "-P", "-c", kernelsScript)
		cmd.Env = append(cmd.Environ(), "OPCAST_NUM_THREADS="+threads)
		bits[threads] = run(t, cmd)
	}
	if bits["2"] != bits["1"] || bits["5"] != bits["1"] {
		t.Errorf("bits by the number of threads: %v", bits)
	}
}
