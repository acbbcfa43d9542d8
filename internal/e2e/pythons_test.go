package e2e

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/ship/matrix"
)

//go:embed smoke.py
var smokeScript string

// The pinned packages exist for these minor versions of Python 3.
const oldest, newest = 11, 14

// One library file serves every Python: the same bytes come out of each as out of the main environment.
func TestEveryPython(t *testing.T) {
	t.Parallel()
	main := python(t)
	library := filepath.Join(root(t), "backend/python/src/opcast_backend/lib/libopcast.so")
	content, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("note: %s has SHA-256 %x\n", filepath.Base(library), sha256.Sum256(content))
	want := smokeOf(t, main)
	found, tried := map[string][]matrix.Interpreter{}, []string(nil)
	for _, p := range matrix.Interpreters(t.Context(), os.Getenv) {
		found[p.Series] = append(found[p.Series], p)
	}
	for minor := oldest; minor <= newest; minor++ {
		series := fmt.Sprintf("3.%d", minor)
		versions := found[series]
		if versions == nil {
			t.Run(series, func(t *testing.T) { t.Skipf("no Python %s on this machine", series) })
		}
		for _, p := range versions {
			tried = append(tried, p.Version)
			t.Run(p.Version, func(t *testing.T) {
				fresh, install := environment(t, p.Path)
				install(pins(t, "apache-tvm-ffi", "numpy", "ml_dtypes")...)
				if diff := cmp.Diff(want, smokeOf(t, fresh)); diff != "" {
					t.Errorf("results (-main +%s):\n%s", p.Version, diff)
				}
			})
		}
	}
	fmt.Printf("note: tried it under Python %s\n", strings.Join(tried, ", "))
}

// smokeOf calls every op of the repository through NumPy and returns a digest of each result.
func smokeOf(t *testing.T, interpreter string) string {
	t.Helper()
	return smoke(t, interpreter, "PYTHONPATH="+strings.Join([]string{
		filepath.Join(root(t), "backend/python/src"), filepath.Join(root(t), "adaptors/numpy/src"),
	}, string(filepath.ListSeparator)))
}

// smoke does the same with whatever packages the interpreter finds.
func smoke(t *testing.T, interpreter string, env ...string) string {
	t.Helper()
	cmd := command(t, t.TempDir(), interpreter, "-P", "-c", smokeScript, "opcast_numpy")
	cmd.Env, cmd.Stdin = append(os.Environ(), env...), strings.NewReader(calls(t))
	return run(t, cmd)
}
