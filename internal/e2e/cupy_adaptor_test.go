package e2e

import "testing"

// What the CuPy adaptor does around a kernel, as far as that shows without a GPU.
func TestCuPyAdaptor(t *testing.T) {
	t.Parallel()
	dir := root(t)
	t.Log(run(t, command(t, dir, python(t), "internal/e2e/cupy_adaptor.py")))
}
