package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCompiledGraphs: torch.compile keeps graphs on the disk, and finds them by the names of ops. Those of other definitions
// would call gradient ops that are no more.
func TestCompiledGraphs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, tt := range []struct {
		words  []string
		graphs string
	}{{nil, "1"}, {nil, "1"}, {[]string{"other definitions"}, "2"}} {
		words := append([]string{python(t), "-P", filepath.Join(root(t), "internal/e2e/compiled_graphs.py")}, tt.words...)
		cmd := command(t, dir, words...)
		cmd.Env = append(cmd.Environ(), "TORCHINDUCTOR_CACHE_DIR="+dir)
		if got := strings.TrimSpace(run(t, cmd)); got != tt.graphs {
			t.Errorf("after run %d, %s graphs are kept, want %s", i+1, got, tt.graphs)
		}
	}
}
