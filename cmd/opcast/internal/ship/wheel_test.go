package ship

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
)

// Archives of the collection that a run did not write are named, and stay; those of others are nobody's business.
func TestNoteStale(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"demo-0.1.0-py3-none-any.whl", "demo-0.0.9-py3-none-any.whl", "demo_cupy-0.1.0-py3-none-any.whl", "demo_backend-0.1.0.tar.gz",
		"demonstration-1.tar.gz", "demo.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var out strings.Builder
	a := commands{&app.App{Stderr: &out}}
	if err := a.noteStale(root, "demo", []wheelLine{{Path: filepath.Join(dir, "demo-0.1.0-py3-none-any.whl")}}); err != nil {
		t.Fatal(err)
	}
	const rest = ", which was not written now: installers may take it, so remove what is obsolete\n"
	want := ""
	for _, name := range []string{"demo-0.0.9-py3-none-any.whl", "demo_backend-0.1.0.tar.gz", "demo_cupy-0.1.0-py3-none-any.whl"} {
		want += "note: the folder also has " + name + rest
	}
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 6 {
		t.Errorf("%d files are left", len(entries))
	}
}
