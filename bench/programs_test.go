package bench

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Each program that measures starts: it finds its modules, those of the suite among them.
func TestPrograms(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no interpreter with the frameworks")
	}
	for _, program := range []string{"all.py", "llama.py", "overhead.py", "work.py"} {
		out, err := exec.CommandContext(t.Context(), python, program, "--help").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "usage: "+program) {
			t.Errorf("%s: %v\n%s", program, err, out)
		}
	}
}
