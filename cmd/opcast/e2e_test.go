package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestEndToEnd runs whole stories with the real compiler and the real frameworks. The scripts see the interpreter that
// has the frameworks as $PYTHON and the repository, whose own collection is built, as $REPO.
func TestEndToEnd(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python: run make test")
	}
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/e2e",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"code": code},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PYTHON", python)
			env.Setenv("REPO", repo)
			// The compiler, and what it has compiled already.
			for _, key := range []string{"CXX", "CCACHE_DIR"} {
				env.Setenv(key, os.Getenv(key))
			}
			// ninja lies beside the interpreter.
			env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(python))
			return nil
		},
	})
}
