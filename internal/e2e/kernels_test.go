package e2e

import (
	_ "embed"
	"strings"
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

//go:embed hostile.py
var hostileScript string

// Rows that are hard for floats give what formulas in long double give, with every instruction set of the machine.
func TestHostileRows(t *testing.T) {
	for _, isa := range []string{"", "avx2", "sse2"} {
		cmd := command(t, t.TempDir(), python(t), "-P", "-c", hostileScript, "opcast_numpy")
		cmd.Env = append(cmd.Environ(), "OPCAST_ISA="+isa)
		if got := strings.TrimSpace(run(t, cmd)); got != "1932" {
			t.Errorf("OPCAST_ISA=%s: compared %s arrays, want 1932", isa, got)
		}
	}
}

//go:embed slopes.py
var slopesScript string

// Gradients of gates are right to the last place, next to the zeros of slopes and where results are large.
func TestSlopesOfGates(t *testing.T) {
	for _, isa := range []string{"", "avx2", "sse2"} {
		cmd := command(t, t.TempDir(), python(t), "-P", "-c", slopesScript)
		cmd.Env = append(cmd.Environ(), "OPCAST_ISA="+isa)
		if got := strings.TrimSpace(run(t, cmd)); got != "1080000" {
			t.Errorf("OPCAST_ISA=%s: compared %s numbers, want 1080000", isa, got)
		}
	}
}
