package e2e

import (
	"path/filepath"
	"testing"
)

// The sanitizers themselves run for minutes, by hand. What they plant must fit the source all the same.
func TestPlantedErrorHasItsPlace(t *testing.T) {
	t.Parallel()
	const script = `import sys, pathlib
sys.path.insert(0, sys.argv[1])
import sanitize
assert pathlib.Path(sys.argv[2]).read_text().count(sanitize.PLACE) == 1`
	source := filepath.Join(root(t), "backend", "opcast", "job.h")
	run(t, command(t, t.TempDir(), python(t), "-c", script, filepath.Join(root(t), "internal", "e2e", "sanitize"), source))
}
