package e2e

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:embed smoke.py
var smokeScript string

// The pinned packages exist for these minor versions of Python 3.
const oldest, newest = 11, 14

// One library file serves every Python: the same bytes come out of each as out of the main environment.
func TestEveryPython(t *testing.T) {
	main := python(t)
	library := filepath.Join(root(t), "backend/python/src/opcast_backend/lib/libopcast.so")
	content, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("note: %s has SHA-256 %x\n", filepath.Base(library), sha256.Sum256(content))
	want := smokeOf(t, main)
	found, tried := interpreters(t), []string(nil)
	for minor := oldest; minor <= newest; minor++ {
		series := fmt.Sprintf("3.%d", minor)
		versions := found[series]
		if versions == nil {
			t.Run(series, func(t *testing.T) { t.Skipf("no Python %s on this machine", series) })
		}
		for _, p := range versions {
			tried = append(tried, p.version)
			t.Run(p.version, func(t *testing.T) {
				fresh, install := environment(t, p.path)
				install(pins(t, "apache-tvm-ffi", "numpy", "ml_dtypes")...)
				if diff := cmp.Diff(want, smokeOf(t, fresh)); diff != "" {
					t.Errorf("results (-main +%s):\n%s", p.version, diff)
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

// interpreter is a Python of this machine.
type interpreter struct{ version, path string }

// interpreters finds every CPython by its series ("3.12"): those on PATH and those of pyenv.
func interpreters(t *testing.T) map[string][]interpreter {
	t.Helper()
	folders := filepath.SplitList(os.Getenv("PATH"))
	home, _ := os.UserHomeDir() // without a home there are no versions below it
	for _, base := range []string{os.Getenv("PYENV_ROOT"), filepath.Join(home, ".pyenv")} {
		more, _ := filepath.Glob(filepath.Join(base, "versions/*/bin")) // the pattern is well formed
		folders = append(folders, more...)
	}
	const ask = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2], " +
		"'%d.%d.%d' % sys.version_info[:3], sys.prefix == sys.base_prefix)"
	found, seen := map[string][]interpreter{}, []string{}
	for _, folder := range folders {
		programs, _ := filepath.Glob(filepath.Join(folder, "python3.[0-9]*"))
		for _, path := range programs {
			// A pyenv shim whose version is switched off, or python3.11-config, fails here and is passed over.
			out, err := exec.CommandContext(t.Context(), path, "-c", ask).Output()
			words := strings.Fields(string(out))
			if err != nil || len(words) != 4 || words[0] != "cpython" || words[3] != "True" || slices.Contains(seen, words[2]) {
				continue
			}
			seen = append(seen, words[2])
			found[words[1]] = append(found[words[1]], interpreter{words[2], path})
		}
	}
	return found
}
