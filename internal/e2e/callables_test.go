package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// Functions in Python need no library.
func TestCallables(t *testing.T) {
	t.Parallel()
	tool := tooltest.Path(t)
	folder := filepath.Join("internal", "e2e", "testdata", "others")
	for function, fails := range map[string][]string{
		"weigh": nil, "off_by_one": {"value"}, "in_place": {"inputs-unchanged", "fresh-outputs"}, "credulous": {"errors"},
		"one_buffer": {"fresh-outputs"},
	} {
		t.Run(function, func(t *testing.T) {
			code, printed, r := tested(t, tool, "--opdefs", filepath.Join(folder, "opdefs"),
				"--callable", "numpy:weigh="+filepath.Join(folder, "functions.py")+":"+function)
			if fails == nil {
				if code != 0 {
					t.Errorf("exit code %d\n%s", code, printed)
				}
				explained(t, r, "words of its errors", "no bare backend")
				return
			}
			for _, check := range fails {
				if code != 1 || !slices.Contains(failed(r), check) {
					t.Errorf("exit code %d, failed: %q, want %s\n%s", code, failed(r), check, printed)
				}
			}
		})
	}
}

// What docs/others.md says of the frameworks' own functions, in short: the checks that its table names fail, and no other.
func TestFrameworkFunctions(t *testing.T) {
	t.Parallel()
	tool := tooltest.Path(t)
	folder := filepath.Join("examples", "callables")
	checks := []string{"value", "magnitudes", "special-values", "errors", "pairs"}
	words := []string{"--opdefs", filepath.Join(folder, "opdefs"), "--only", only(t, checks...)}
	for _, framework := range []string{"torch", "jax"} {
		for _, op := range []string{"silu", "softmax"} {
			words = append(words, "--callable", framework+":"+op+"="+filepath.Join(folder, framework+"_ops.py")+":"+op)
		}
	}
	_, printed, r := tested(t, tool, words...)
	if r == nil {
		t.Fatal(printed)
	}
	documented := documentedFailures(t)
	for _, op := range []string{"silu", "softmax"} {
		for _, framework := range []string{"torch", "jax"} {
			var want, got []string
			for _, check := range documented[op+" "+framework] {
				if slices.Contains(checks, check) {
					want = append(want, check)
				}
			}
			for _, result := range r.Results {
				if result.Op == op && result.Adaptor == framework && result.Status.Bad() && !slices.Contains(got, result.Check) {
					got = append(got, result.Check)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s of %s: %q fail, the documentation says %q\n%s", op, framework, got, want, printed)
			}
		}
	}
}

// documentedFailures are the checks that fail by docs/others.md, by "op framework".
func documentedFailures(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "others.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) == 9 {
			checks := strings.Split(strings.TrimSpace(cells[7]), ", ")
			out[strings.TrimSpace(cells[1])+" "+strings.TrimSpace(cells[2])] = checks
		}
	}
	if len(out) < 10 {
		t.Fatalf("docs/others.md has figures of %d functions", len(out))
	}
	return out
}
