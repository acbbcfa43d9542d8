package opcast_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/gen"
)

// sourceSuffixes are those of files that a person may have written or opcast generated.
var sourceSuffixes = []string{".go", ".py", ".pyi", ".cc", ".h", ".cu", ".hip"}

// A folder has generated sources or sources by hand, never both: who opens one knows what may be edited there.
func TestFoldersOfGeneratedSources(t *testing.T) {
	byHand, generated := map[string]string{}, map[string]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(sourceSuffixes, path.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		kind := byHand
		if gen.Marked(text) {
			kind = generated
		}
		kind[path.Dir(name)] = name
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(generated) == 0 || len(byHand) == 0 {
		t.Errorf("found %d folders with generated sources and %d with others", len(generated), len(byHand))
	}
	for folder, name := range generated {
		if other, both := byHand[folder]; both {
			t.Errorf("%s has %s, which is generated, and %s, which is not", folder, path.Base(name), path.Base(other))
		}
	}
}

// What protects the tool from what strangers wrote is in one place each, which nothing passes by.
func TestOnlyPlaces(t *testing.T) {
	only := map[string]*regexp.Regexp{
		// Limits come before the parser.
		"internal/language/tomlfmt/read.go": regexp.MustCompile(`\btoml\.(Unmarshal|NewDecoder)\(`),
		// Git does not run what a repository names.
		"internal/system/git/git.go": regexp.MustCompile(`"git"[,)]`),
		// All that people see goes through diag.Plain.
		"cmd/opcast/main.go": regexp.MustCompile(`\bos\.(Stdout|Stderr)\b|\bfmt\.Print(ln|f)?\(`),
	}
	found := map[string]bool{}
	for _, folder := range []string{"cmd", "conformance", "gen", "internal", "bench"} {
		err := fs.WalkDir(os.DirFS("."), folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testkit/") {
				return err
			}
			text, err := os.ReadFile(name)
			for place, call := range only {
				if at := call.FindString(string(text)); place == name {
					found[place] = at != ""
				} else if at != "" {
					t.Errorf("%s has %q, which belongs to %s", name, strings.TrimSpace(at), place)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for place := range only {
		if !found[place] {
			t.Errorf("%s does not do what it is for", place)
		}
	}
}
