package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// Numbers in the place of arrays without dims: one graph and one program serve all values, and an eager call makes no array.
func TestChangingNumbers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	words := []string{python(t), "-P", "-W", "ignore", filepath.Join(root(t), "internal/e2e/changing_numbers.py")}
	if !testing.Short() {
		words = append(words, dir)
	}
	cmd := command(t, dir, words...)
	cmd.Env = append(cmd.Environ(), "TORCHINDUCTOR_CACHE_DIR="+filepath.Join(dir, "cache"))
	if got, want := strings.TrimSpace(run(t, cmd)), "one program for all"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
