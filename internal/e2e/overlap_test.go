package e2e

import "testing"

// The rules on memory in Python do what a search through all elements does. They need no library.
func TestPythonOverlap(t *testing.T) {
	t.Parallel()
	dir := root(t)
	t.Log(run(t, command(t, dir, python(t), "internal/e2e/overlap.py", dir)))
}
