package e2e

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"
)

//go:embed turns.py
var turnsScript string

// Samples of an op and of its peers have the same number of calls, unless a peer is far slower: the first ones after a rest are
// slow for whoever makes them.
func TestTurns(t *testing.T) {
	t.Parallel()
	cmd := command(t, t.TempDir(), python(t), "-c", turnsScript)
	cmd.Env = append(os.Environ(), "PYTHONSAFEPATH=1", "PYTHONPATH="+filepath.Join(root(t), "conformance", "internal", "worker"))
	const want = `op 3 4 [300.0, 300.0, 300.0]
copy 1 1 [9000.0, 9000.0, 9000.0]
peer 3 4 [500.0, 500.0, 500.0]
slow 3 2 [2000.0, 2000.0, 2000.0]
slower 3 1 [8000.0, 8000.0, 8000.0]
far slower 1 1 [30000.0, 30000.0, 30000.0]
hopeless 1 1 [200000.0]
['hopeless']
`
	if got := run(t, cmd); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
