package generated

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// copied copies the example project of the suite and loads the copy.
func copied(t *testing.T) *opdef.Project {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "conformance", "internal", "run", "testdata", "toy"))); err != nil {
		t.Fatal(err)
	}
	p, diags, err := load.Load(dir)
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	return p
}

// Files that were never written, were edited or belong to no definition are stale; after they are written, none is.
func TestStale(t *testing.T) {
	p := copied(t)
	missing, err := Stale(p)
	if err != nil || len(missing) == 0 {
		t.Fatalf("stale at first: %q, %v", missing, err)
	}
	changes, diags, err := Compare(p)
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	if err := changes.Apply(); err != nil {
		t.Fatal(err)
	}
	if err := changes.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err := Stale(p); err != nil || len(files) > 0 {
		t.Errorf("stale after they were written: %q, %v", files, err)
	}
	edited := missing[0]
	path := filepath.Join(p.Dir, filepath.FromSlash(edited))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "more\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if files, err := Stale(p); err != nil || !slices.Equal(files, []string{edited}) {
		t.Errorf("stale after an edit: %q, %v", files, err)
	}
}
