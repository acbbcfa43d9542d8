package e2e

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:embed explain.py
var explainScript string

// The backend explains its ops in the words of the command line, and knows which arguments of a call are copied.
func TestExplain(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	for _, op := range project(t).Ops {
		text, _ := mustOpcast(t, "explain", "--dir", root(t), op.Name)
		want.WriteString(text)
	}
	if diff := cmp.Diff(want.String(), run(t, command(t, t.TempDir(), python(t), "-P", "-c", explainScript))); diff != "" {
		t.Errorf("explain (-command line +Python):\n%s", diff)
	}
}
