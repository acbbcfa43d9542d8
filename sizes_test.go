package opcast_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/gen"
)

// What a reader can hold in the head; CONTRIBUTING.md says so. Tests do not count as lines or files of a package.
const mostLines, mostFiles, mostFileLines = 4000, 40, 300

// size is what a package has.
type size struct{ lines, files int }

// What outgrows the limits is split where a reader would expect it, not put on a list of exceptions.
func TestSizesOfPackages(t *testing.T) {
	sizes := map[string]size{}
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
		if err != nil || gen.Marked(text) {
			return err
		}
		lines := bytes.Count(text, []byte("\n"))
		if lines > mostFileLines {
			t.Errorf("%s has %d lines, at most %d are allowed", name, lines, mostFileLines)
		}
		if path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			s := sizes[path.Dir(name)]
			sizes[path.Dir(name)] = size{s.lines + lines, s.files + 1}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, s := range sizes {
		if s.lines > mostLines || s.files > mostFiles {
			t.Errorf("%s has %d lines in %d files, at most %d in %d are allowed: split it", folder, s.lines, s.files, mostLines, mostFiles)
		}
	}
	for _, folder := range []string{".", "cmd/opcast", "internal/build", "examples/go"} { // else the walk has missed some
		if sizes[folder].files == 0 {
			t.Errorf("no file was found in %s", folder)
		}
	}
}

// skipped says whether a folder holds what is built or installed, or what Go leaves alone. internal/build is none of these.
func skipped(folder string) bool {
	base := path.Base(folder)
	return folder != "." && (strings.ContainsAny(base[:1], "._") || slices.Contains([]string{"testdata", "node_modules"}, base)) ||
		slices.Contains([]string{"build", "dist", "examples/real/vllm"}, folder)
}
