package e2e

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// The suite has nothing to say against right ops whose kernels rely on what the definitions promise.
func TestStrangeOps(t *testing.T) {
	t.Setenv("GOGC", "400") // by which users tune the Go programs of their own: it is no leak of a kernel
	dir, interpreter := t.TempDir(), borrowed(t)
	archive, err := txtar.ParseFile(filepath.Join("testdata", "strange.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
	mustOpcast(t, "build", "-C", dir, "--python", interpreter)
	words := []string{"-C", dir, "--adaptor", "torch,backend,op_call,native", "--only", only(t, "signature", "mixed", "random-calls", "special-inputs")}
	if wrong, printed := wrongWith(t, interpreter, words); len(wrong) > 0 {
		t.Errorf("failed: %q\n%s", wrong, printed)
	}
}
