package code_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build/generated"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// TestCodes: every code is declared once, explained, and, if check reports it as a mistake, provoked by a script.
func TestCodes(t *testing.T) {
	declared := count(t, `= "([A-Z]\d{3})"`, "code.go")
	provoked := count(t, `error: .* \[([EG]\d{3})\]`, "../../../../cmd/opcast/testdata/script/check_*.txtar")
	if len(declared) < 60 {
		t.Fatalf("%d codes found", len(declared))
	}
	for c, n := range declared {
		e, ok := code.Explain(c)
		if n != 1 || !ok || e.Title == "" || strings.Contains(e.Title, "\n") || e.Why == "" || len(e.Wrong) == 0 || len(e.Right) == 0 {
			t.Errorf("%s is declared %d times, and explained as %+v", c, n, e)
		}
		if c[0] == 'E' && provoked[c] == 0 {
			t.Errorf("no script provokes %s", c)
		}
	}
	for _, e := range code.All() {
		if declared[e.Code] == 0 || !code.Form.MatchString(e.Code) {
			t.Errorf("%s is explained and does not exist", e.Code)
		}
	}
	if _, ok := code.Explain("."); ok {
		t.Error("a path is explained")
	}
}

// TestExamples: what is wrong has the code and no other, prints what the explanation says, and what is right has no
// mistake and no note. The sources of the codes of the build are compiled in the tests of the build.
func TestExamples(t *testing.T) {
	for _, e := range code.All() {
		t.Run(e.Code, func(t *testing.T) {
			if found := check(t, e.Right); len(found) > 0 {
				t.Errorf("the right example has mistakes:\n%s", printed(t, found))
			}
			found := check(t, e.Wrong)
			if e.Code[0] == 'B' {
				if len(found) > 0 || !strings.Contains(e.Says, "["+e.Code+"]") {
					t.Errorf("check finds:\n%sand the explanation says:\n%s", printed(t, found), e.Says)
				}
				return
			}
			if len(found) == 0 || slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code != e.Code }) {
				t.Errorf("the wrong example has:\n%s", printed(t, found))
			}
			if got := printed(t, found); got != e.Says {
				if os.Getenv("UPDATE") == "" {
					t.Fatalf("says %q, got %q; UPDATE=1 rewrites it", e.Says, got)
				}
				update(t, e.Code, got)
			}
		})
	}
}

// TestPage: docs/diagnostics.md is the page of the codes; make gen writes it.
func TestPage(t *testing.T) {
	want, err := code.Page()
	if err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile("../../../../docs/diagnostics.md"); err != nil || string(have) != want {
		t.Errorf("docs/diagnostics.md is not what the explanations give (%v); run make gen", err)
	}
}

// check writes an example into a folder and reads it as opcast check does.
func check(t *testing.T, example []code.Example) diag.List {
	t.Helper()
	dir := t.TempDir()
	example = append([]code.Example{{Name: "opcast.toml", Text: "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n"}}, example...)
	for _, f := range example {
		name, target, link := strings.Cut(f.Name, " -> ")
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(f.Text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p, found, err := load.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		found = append(generated.Removed(p), gen.Notes(p)...)
	}
	return found
}

func printed(t *testing.T, list diag.List) string {
	t.Helper()
	var b strings.Builder
	if err := list.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// update writes what the tool prints into the archive of a code.
func update(t *testing.T, code, says string) {
	t.Helper()
	name := filepath.Join("entries", code+".txtar")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(data)
	archive.Files[len(archive.Files)-1] = txtar.File{Name: "says", Data: []byte(says)}
	if err := os.WriteFile(name, bytes.TrimLeft(txtar.Format(archive), "\n"), 0o644); err != nil {
		t.Fatal(err)
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
