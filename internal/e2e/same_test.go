package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// A function that does nothing wrong fails nothing, however its results lie; and an author's module that cannot be imported
// is told as a failure of its check, in the author's words alone.
func TestSame(t *testing.T) {
	t.Parallel()
	tool := tooltest.Path(t)
	others := filepath.Join("internal", "e2e", "testdata", "others")
	function := []string{"--callable", "numpy:same=" + filepath.Join(others, "copies.py") + ":same"}
	code, printed, r := tested(t, tool, append(function, "--opdefs", filepath.Join(others, "same"))...)
	if code != 0 || !strings.Contains(printed, ", 0 failed, ") {
		t.Errorf("exit code %d, failed: %q\n%s", code, failed(r), printed)
	}

	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(root(t), others, "same", "same.toml"))
	module := []byte("def independent(numpy, x):\n    return x\n\n\nraise RuntimeError('not today')\n")
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "same.toml"), text, 0o644),
		os.WriteFile(filepath.Join(dir, "same.py"), module, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	code, printed, r = tested(t, tool, append(function, "--opdefs", dir)...)
	if code != 1 || !slices.Equal(failed(r), []string{"independent"}) {
		t.Errorf("exit code %d, failed: %q\n%s", code, failed(r), printed)
	}
	for _, result := range r.Results {
		if result.Status == report.Fail && (!strings.Contains(result.Reason, "RuntimeError: not today") ||
			strings.Contains(result.Reason, "reference_caller.py")) {
			t.Errorf("%s: %s", result.Check, result.Reason)
		}
	}
}
