package e2e

import "testing"

// Importing a package costs what it needs: those that are not for PyTorch do not import it, though tvm-ffi would, and the one
// that is brings none of the parts that PyTorch itself imports late.
func TestImportsBringNoMore(t *testing.T) {
	for _, name := range []string{"backend", "numpy", "jax", "late", "early", "first", "threads"} {
		t.Run(name, func(t *testing.T) {
			if got := run(t, command(t, ".", python(t), "import_parts.py", name)); got != "ok\n" {
				t.Errorf("got %s", got)
			}
		})
	}
}
