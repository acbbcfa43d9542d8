package e2e

import (
	"path/filepath"
	"testing"
)

// In a process of Python, the library for PyTorch finds the function that tells the current stream of a GPU if this PyTorch has
// one. It is not called, so that no GPU is needed.
func TestStreamOfPyTorch(t *testing.T) {
	t.Parallel()
	script := filepath.Join(root(t), "internal", "e2e", "torch_stream.py")
	run(t, command(t, t.TempDir(), python(t), script))
}
