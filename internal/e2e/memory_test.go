package e2e

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed memory.py
var memoryScript string

// A million calls leave resident memory where it was, in a short run a quarter of them: right and wrong ones, with gradients, and on
// overwritten arrays.
func TestMemory(t *testing.T) {
	t.Parallel()
	main, calls := python(t), "1_000_000"
	if testing.Short() {
		calls = "250_000"
	}
	for _, framework := range []string{"torch", "jax"} {
		t.Run(framework, func(t *testing.T) {
			t.Parallel()
			out := strings.TrimSpace(run(t, command(t, t.TempDir(), main, "-P", "-c", memoryScript, framework, calls)))
			t.Log("\n" + out)
			fmt.Println("note: " + out[strings.LastIndex(out, "\n")+1:])
		})
	}
}

// Sizes around 2^31 and beyond 2^32 give right results or our error, along one dim of each op and those with a formula of their own. A
// short run tries the largest number of rows, and the errors; all dims of all ops take an hour: sizes.py all.
func TestSizes(t *testing.T) {
	main, length := python(t), "long"
	if testing.Short() {
		length = "short"
	}
	out := strings.TrimSpace(run(t, command(t, root(t), main, filepath.Join(root(t), "internal/e2e/sizes/sizes.py"), "opdefs", length)))
	t.Log("\n" + out)
	if said := fmt.Sprintf("%d right, %d our errors", strings.Count(out, ": right ("), strings.Count(out, ": our error (")); strings.HasPrefix(said, "0 ") {
		t.Errorf("%s: nothing was tried", said)
	}
}

// The rules on memory in Python do what a search through all elements does. They need no library.
func TestPythonOverlap(t *testing.T) {
	t.Parallel()
	dir := root(t)
	t.Log(run(t, command(t, dir, python(t), "internal/e2e/overlap.py", dir)))
}
