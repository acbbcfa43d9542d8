package opcast_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
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
