package e2e

import (
	_ "embed"
	"fmt"
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
