package conformance_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// The script that carries the suite to a machine with a GPU parses, and says how it is used.
func TestGPUScript(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "bash", "-n", "gpu.sh").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "bash", "gpu.sh").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "conformance/gpu.sh pack") {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "set -euo") {
		t.Errorf("the usage holds code:\n%s", out)
	}
}
