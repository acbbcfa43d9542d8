package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/run"
	"github.com/opcast/opcast/internal/build/generated"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// python is the interpreter of the environment with the frameworks.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("OPCAST_TEST_PYTHON")
	if path == "" {
		path = filepath.Join("..", "..", "..", ".venv", "bin", "python")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run `make build`", err)
	}
	return path
}

func TestMain(m *testing.M) { os.Exit(tooltest.Run(m)) }

// TestConformance runs the suite on this repository's collection with the environment in .venv, or that of
// OPCAST_TEST_PYTHON; a short run has some of the specs. Ginkgo's flags select specs:
// go test ./conformance/internal/run -ginkgo.label-filter='adaptor:jax'.
func TestConformance(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	project, findings, err := load.Load(root)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	only := ""
	if testing.Short() {
		only = filepath.Join(t.TempDir(), "only")
		if err := os.WriteFile(only, []byte(strings.Join(run.Sampled(project.Ops), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	summary, err := run.Run(t.Context(), run.Options{
		Subject: run.Subject{
			Project: project,
		},
		Scope: run.Scope{
			Spread: true,
			Only:   only,
		},
		Effort: run.Effort{
			Python: python(t),
			Native: []string{tooltest.Path(t), "native-caller"},
			Stale:  func(context.Context) ([]string, error) { return generated.Stale(project) },
		},
		Output: run.Output{
			Out:       os.Stdout,
			Verbose:   testing.Verbose(),
			ReportDir: filepath.Join(root, "build", "report"),
			T:         t,
		},
	})
	if errors.Is(err, run.ErrNotBuilt) {
		t.Fatalf("%v: run `make build`", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Ginkgo's closing line, by which `make test` counts the results.
	fmt.Printf("-- %d Passed | %d Failed | 0 Pending | %d Skipped\n", summary.Passed, summary.Failed, summary.Skipped)
	if !summary.OK() {
		t.Errorf("%s", summary)
	}
}
