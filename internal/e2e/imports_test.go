package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// imports looks through Python files that are imported side by side, the shared folder first.
func imports(t *testing.T, shared string, others ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python(t), append([]string{"imports.py", shared}, others...)...).CombinedOutput()
	return string(out), err
}

// Imports in Python run one way, also those in functions and for type checkers, and no framework's files import those of
// another one.
func TestNoImportCircles(t *testing.T) {
	for shared, others := range map[string]string{
		"conformance/internal/worker": "adaptors/*/opcast_worker", "backend/python/src": "adaptors/*/src",
	} {
		folders, err := filepath.Glob(filepath.Join(root(t), others))
		if err != nil || len(folders) == 0 {
			t.Fatalf("%s: no such folder: %v", others, err)
		}
		for i, folder := range folders { // a package is imported by its name
			folders[i] = strings.TrimSuffix(folder, "/opcast_worker")
		}
		if text, err := imports(t, filepath.Join(root(t), shared), folders...); err != nil {
			t.Errorf("%s and %s: %v\n%s", shared, others, err, text)
		}
	}
}

// What must not be is found wherever it stands.
func TestImportCirclesAreFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shared/a.py":     "def late() -> None:\n    import b\n",
		"shared/b.py":     "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import late\n",
		"shared/find.py":  "import importlib\ndef find(fw):\n    return importlib.import_module(f\"{fw}_caller\")\n",
		"one/x_caller.py": "import find\n",
		"two/y_other.py":  "import a\nimport x_caller\n",
		"two/p/first.py":  "from importlib import import_module\nimport_module(\".second\", __package__)\n",
		"two/p/second.py": "from . import first\n",
		"two/b.py":        "",
	} {
		write(t, filepath.Join(dir, name), []byte(text))
	}
	text, err := imports(t, filepath.Join(dir, "shared"), filepath.Join(dir, "one"), filepath.Join(dir, "two"))
	if err == nil {
		t.Error("nothing was found")
	}
	for _, want := range []string{
		"a -> b -> a", "find -> x_caller -> find", "p.first -> p.second -> p.first",
		"b is " + filepath.Join(dir, "shared/b.py") + " and " + filepath.Join(dir, "two/b.py"),
		filepath.Join(dir, "two/y_other.py") + " imports " + filepath.Join(dir, "one/x_caller.py"),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not found: %s\n%s", want, text)
		}
	}
}

// Importing a package costs what it needs: those that are not for PyTorch do not import it, though tvm-ffi would, and the one
// that is brings none of the parts that PyTorch itself imports late.
func TestImportsBringNoMore(t *testing.T) {
	for _, name := range []string{"backend", "numpy", "jax", "late", "early", "first", "threads"} {
		t.Run(name, func(t *testing.T) {
			if got := run(t, command(t, ".", python(t), "import_parts.py", name)); got != "ok\n" {
				t.Errorf("got %s", got)
			}
		})
	}
}
