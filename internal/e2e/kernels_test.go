package e2e

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
)

//go:embed kernels.py
var kernelsScript string

// Large gradients are right, and have the same bits whatever the number of threads.
func TestLargeGradients(t *testing.T) {
	t.Parallel()
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

// hostileArrays is how many arrays the script compares.
const hostileArrays = "2184"

// Rows that are hard for floats give what formulas in long double give, with every instruction set of the machine.
func TestHostileRows(t *testing.T) {
	t.Parallel()
	compareWithEach(t, hostileArrays, hostileScript, "opcast_numpy")
}

//go:embed slopes.py
var slopesScript string

// gelu and gradients of gates are right to the last place, next to the zeros of slopes and where results are large.
func TestSlopesOfGates(t *testing.T) {
	t.Parallel()
	compareWithEach(t, "1440000", slopesScript)
}

// compareWithEach runs a script with every instruction set of the machine. The script compares and prints how often.
func compareWithEach(t *testing.T, want, script string, args ...string) {
	t.Helper()
	for _, isa := range []string{"", "avx2", "sse2"} {
		cmd := command(t, t.TempDir(), slices.Concat([]string{python(t), "-P", "-c", script}, args)...)
		cmd.Env = append(cmd.Environ(), "OPCAST_ISA="+isa)
		if got := strings.TrimSpace(run(t, cmd)); got != want {
			t.Errorf("OPCAST_ISA=%s: compared %s, want %s", isa, got, want)
		}
	}
}
