package trial_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/fake"
	"github.com/opcast/opcast/conformance/trial"
)

// A reference without an end is ended, and the error says where it is written.
func TestReferenceWithoutEnd(t *testing.T) {
	python, err := filepath.Abs(cmp.Or(os.Getenv("OPCAST_TEST_PYTHON"), filepath.Join("..", "..", ".venv", "bin", "python")))
	if err != nil {
		t.Fatal(err)
	}
	op := *fake.ToyOp(t, "accumulate")
	op.Reference = "while True:\n    pass"
	call, err := trial.New(&op, trial.Request{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	err = call.Record(t.Context(), python, t.TempDir(), time.Second)
	if want := "reference of accumulate (opdefs/accumulate.toml:"; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), ") did not end within 1s") {
		t.Errorf("got %v, want %s…", err, want)
	}
}
