package e2e

import (
	"strings"
	"testing"
)

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
