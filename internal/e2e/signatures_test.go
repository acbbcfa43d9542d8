package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Signatures read as they stand in the source: no quotes around types, and no default where an argument must be given.
func TestSignatures(t *testing.T) {
	t.Parallel()
	if got := run(t, command(t, ".", python(t), "signatures.py")); got != "ok\n" {
		t.Errorf("got %s", got)
	}
}

// Calls of other libraries need no change: their arguments fit the signatures that definitions give, and the references compute with
// them.
func TestRealSignatures(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "real.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir, calls := t.TempDir(), 0
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, f.Name), f.Data)
		if f.Name == "calls" {
			calls = strings.Count(string(f.Data), "\n")
		}
	}
	mustOpcast(t, "-C", dir, "gen")
	if got := run(t, command(t, ".", python(t), "real_signatures.py", dir)); calls < 20 || strings.Count(got, "\n") != calls {
		t.Errorf("of %d calls, these fit: %s", calls, got)
	}
}
