package code

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestCodes: every code is documented once, and provoked by a script.
func TestCodes(t *testing.T) {
	declared := count(t, `= "([EG]\d{3})"`, "code.go")
	documented := count(t, `(?m)^\| ([EG]\d{3}) \| \S`, "../../../docs/diagnostics.md")
	provoked := count(t, `error: .* \[([EG]\d{3})\]`, "../../../cmd/opcast/testdata/script/check_*.txtar")
	if len(declared) == 0 {
		t.Fatal("no codes found")
	}
	for _, code := range slices.Sorted(maps.Keys(declared)) {
		if declared[code] != 1 || documented[code] != 1 {
			t.Errorf("%s is declared %d times and documented %d times", code, declared[code], documented[code])
		}
		if provoked[code] == 0 {
			t.Errorf("no script provokes %s", code)
		}
	}
	for code := range documented {
		if declared[code] == 0 {
			t.Errorf("%s is documented and does not exist", code)
		}
	}
}

// count counts the codes that a pattern finds in the files of a glob.
func count(t *testing.T, pattern, glob string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			found[string(m[1])]++
		}
	}
	return found
}
