package e2e

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/opdef/load"
)

//go:embed explain.py
var explainScript string

// The backend explains its ops in the words of the command line, and knows which arguments of a call are copied.
func TestExplain(t *testing.T) {
	t.Parallel()
	project, findings, err := load.Load(root(t))
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	var want strings.Builder
	for _, op := range project.Ops {
		text, _ := mustOpcast(t, "explain", "--dir", root(t), op.Name)
		want.WriteString(text)
	}
	if diff := cmp.Diff(want.String(), run(t, command(t, t.TempDir(), python(t), "-P", "-c", explainScript))); diff != "" {
		t.Errorf("explain (-command line +Python):\n%s", diff)
	}
}
