package e2e

import "testing"

// Signatures read as they stand in the source: no quotes around types, and no default where an argument must be given.
func TestSignatures(t *testing.T) {
	t.Parallel()
	if got := run(t, command(t, ".", python(t), "signatures.py")); got != "ok\n" {
		t.Errorf("got %s", got)
	}
}
