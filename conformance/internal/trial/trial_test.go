package trial_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/trial"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// A mistake in a reference is told with the line of the definition.
func TestReferenceLine(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("opcast.toml", "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n")
	write("opdefs/copy.toml", `doc = "Copy x."
kind = 0
inputs = [{ name = "x", type = "f32[N]", doc = "Values." }]
outputs = [{ name = "y", type = "f32[N]", doc = "Values." }]
reference = """
y = x
return y +
"""
`)
	project, findings, err := load.Load(root)
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	call, err := trial.New(project.Ops[0], trial.Request{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	err = call.Record(t.Context(), interpreter(t), root, t.TempDir(), time.Minute)
	if want := "(copy.toml, line 7)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func interpreter(t *testing.T) string {
	t.Helper()
	python, err := filepath.Abs(cmp.Or(os.Getenv("OPCAST_TEST_PYTHON"), filepath.Join("..", "..", "..", ".venv", "bin", "python")))
	if err != nil {
		t.Fatal(err)
	}
	return python
}

// A reference without an end is ended, and the error says where it is written.
func TestReferenceWithoutEnd(t *testing.T) {
	op := *fake.ToyOp(t, "accumulate")
	op.Reference = "while True:\n    pass"
	call, err := trial.New(&op, trial.Request{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	err = call.Record(t.Context(), interpreter(t), "", t.TempDir(), time.Second)
	if want := "reference of accumulate (opdefs/accumulate.toml:"; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), ") did not end within 1s") {
		t.Errorf("got %v, want %s…", err, want)
	}
}
