package cost

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/load"
)

// collection is a folder with two ops and a file of kernels for each; the second one is longer.
func collection(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"opcast.toml":   "name = \"kit\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\nadaptors = [\"numpy\"]\ndevices = [\"cpu\"]\nsources = [\"csrc/*.cc\"]\n",
		"opdefs/a.toml": definition("0"), "opdefs/b.toml": definition("1"),
		"csrc/a.cc": "#include \"a.gen.h\"\n", "csrc/b.cc": "#include \"b.gen.h\"\n\nint b;\n", "csrc/b.gen.cc": "#include \"a.gen.h\"\n", "csrc/c.h": "#include \"a.gen.h\"\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func definition(kind string) string {
	return "doc = \"Copy x.\"\nkind = " + kind + "\ndtypes = { T = [\"f32\"] }\ninputs = [{ name = \"x\", type = \"T[*]\", doc = \"Any values.\" }]\n" +
		"outputs = [{ name = \"y\", type = \"T[*]\", doc = \"x.\" }]\nreference = \"return x\"\n"
}

// python is a program that prints seconds in the place of Python; it fails for packages of a name.
func python(t *testing.T, missing string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	script := "#!/bin/sh\ncase $4 in " + missing + ") echo 'ImportError: none' >&2; exit 1;; esac\necho 0.01\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMeasure(t *testing.T) {
	dir := collection(t)
	p, findings, err := load.Load(dir)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	var built, tested []string
	got, err := Measure(t.Context(), Options{
		Project: p, Python: python(t, "kit_numpy"), Copy: dir, Repeat: 2, Progress: io.Discard,
		Build: func(context.Context, string) error {
			text, err := os.ReadFile(filepath.Join(dir, "csrc/b.cc"))
			built = append(built, string(text))
			return err
		},
		Test: func(_ context.Context, _, op string) error { tested = append(tested, op); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(built) != 3 || built[0] == built[1] || built[1] == built[2] || strings.Join(tested, " ") != "b b" {
		t.Errorf("built %q, tested %q", built, tested)
	}
	values := map[string]string{}
	for i := range got {
		values[got[i].Name] = got[i].String() + got[i].Missing
	}
	for name, want := range map[string]string{
		"import/backend/time": "10.0 ms", "import/numpy/time": "-ImportError: none",
	} {
		if values[name] != want {
			t.Errorf("%s: got %q, want %q", name, values[name], want)
		}
	}
	for _, name := range []string{"build/clean/wall", "build/clean/user", "build/edited/wall", "build/tested/wall"} {
		if values[name] == "" {
			t.Errorf("no %s among %v", name, values)
		}
	}
}

func TestBuildFails(t *testing.T) {
	dir := collection(t)
	p, _, err := load.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	_, err = Measure(t.Context(), Options{
		Project: p, Python: python(t, "none"), Copy: dir, Progress: io.Discard, Build: func(context.Context, string) error { return broken },
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
