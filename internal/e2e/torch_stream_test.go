package e2e

import (
	"path/filepath"
	"testing"
)

// The library for PyTorch finds the function that tells the current stream of a GPU wherever PyTorch has one, in a
// process of Python as in one that links PyTorch. It calls nothing: this machine needs no GPU.
func TestStreamOfPyTorch(t *testing.T) {
	t.Parallel()
	script := filepath.Join(root(t), "internal", "e2e", "torch_stream.py")
	run(t, command(t, t.TempDir(), python(t), script))
}
