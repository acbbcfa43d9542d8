package gen_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// TestGolden renders each project of testdata/*.txtar (files below in/) and compares the files below want/.
// UPDATE=1 rewrites them.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { golden(t, path) })
	}
}

func golden(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		if name, in := strings.CutPrefix(f.Name, "in/"); in {
			write(t, filepath.Join(dir, name), f.Data)
		}
	}
	files := byPath(generate(t, dir))
	changed := false
	for i, f := range archive.Files {
		name, want := strings.CutPrefix(f.Name, "want/")
		if !want {
			continue
		}
		got, ok := files[name]
		if !ok {
			t.Errorf("%s was not generated", name)
		}
		if os.Getenv("UPDATE") != "" {
			archive.Files[i].Data, changed = got, true
		} else if diff := cmp.Diff(string(f.Data), string(got)); diff != "" {
			t.Errorf("%s (-want +got; UPDATE=1 rewrites):\n%s", name, diff)
		}
	}
	if changed {
		write(t, path, txtar.Format(archive))
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func generate(t *testing.T, dir string) []gen.File {
	t.Helper()
	project, list, err := load.Load(dir)
	if err != nil || len(list) > 0 {
		t.Fatalf("load: %v %v", err, list)
	}
	files, err := gen.Generate(project)
	if err != nil {
		t.Fatalf("generate: %v", err)
	}
	return files
}

func byPath(files []gen.File) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range files {
		out[f.Path] = f.Content
	}
	return out
}

// TestDeterministic generates this repository's collection twice from fresh models.
func TestDeterministic(t *testing.T) {
	first, second := byPath(generate(t, "..")), byPath(generate(t, ".."))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

// TestFresh fails when a checked-in file is not what the definitions say.
func TestFresh(t *testing.T) {
	files := generate(t, "..")
	changes, err := gen.Compare("..", append(files, recipes(t, "..", files)...))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := changes.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, f := range changes.Write {
		t.Errorf("%s is stale: run make gen", f.Path)
	}
	for _, p := range changes.Remove {
		t.Errorf("%s is left over: run make gen", p)
	}
}

// recipes are the generated files that come from the builder, beside those of this package.
func recipes(t *testing.T, dir string, files []gen.File) (list []gen.File) {
	t.Helper()
	project, diags, err := load.Load(dir)
	if err != nil || len(diags) > 0 {
		t.Fatalf("load: %v %v", err, diags)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	found, err := build.Recipes(project, backend.FS, paths)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found {
		list = append(list, gen.File{Path: r.Path, Content: r.Text})
	}
	return list
}

// TestSync covers the three things that a comparison may ask for, and that a hand-written file is never lost.
func TestSync(t *testing.T) {
	dir := t.TempDir()
	marker := []byte("# " + gen.Marker + "opdefs. DO NOT EDIT.\n")
	write(t, filepath.Join(dir, "docs/ops/old.md"), marker)
	write(t, filepath.Join(dir, "adaptors/numpy/hand.py"), []byte("mine\n"))
	files := []gen.File{
		{Path: "docs/ops/new.md", Content: marker},
		{Path: "adaptors/numpy/hand.py", Content: marker, Runtime: true},
	}
	changes, err := gen.Compare(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes.Write) != 1 || changes.Write[0].Path != "docs/ops/new.md" || len(changes.Remove) != 1 {
		t.Fatalf("got %+v", changes)
	}
	if err := changes.Apply(); err != nil {
		t.Fatal(err)
	}
	if hand, err := os.ReadFile(filepath.Join(dir, "adaptors/numpy/hand.py")); err != nil || !bytes.Equal(hand, []byte("mine\n")) {
		t.Errorf("hand-written file: %q, %v", hand, err)
	}
	again, err := gen.Compare(dir, files)
	if err != nil || !again.Empty() {
		t.Errorf("after apply: %+v, %v", again, err)
	}
	if err := changes.Close(); err != nil {
		t.Error(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestSyncStaysInside refuses to write through a symbolic link that leaves the project.
func TestSyncStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "docs")); err != nil {
		t.Fatal(err)
	}
	changes, err := gen.Compare(dir, []gen.File{{Path: "docs/ops/x.md", Content: []byte("x")}})
	if err == nil {
		err = changes.Apply()
	}
	if err == nil {
		t.Error("wrote through a link to the outside")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("outside holds %v", entries)
	}
}
