package hub

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

func kernel(t *testing.T, source Source) *Kernel {
	t.Helper()
	k, err := New(&opdef.Project{Manifest: manifest.Manifest{Name: "my_ops", Version: "3.1rc1", License: "MIT"}}, source, "0.1.15.post2", "opcast 0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestNames(t *testing.T) {
	k := kernel(t, Source{})
	if k.Name != "my-ops" || k.Version != 3 || k.frameworks()[0] != "tvm-ffi01" {
		t.Errorf("%s, version %d, variants for %q", k.Name, k.Version, k.frameworks())
	}
	for version, want := range map[string]string{"": "cpu", "13.2": "cu132", "12": "cu120"} {
		if got := (Build{CUDA: version}).word(); got != want {
			t.Errorf("CUDA %q is called %s, want %s", version, got, want)
		}
	}
	if _, err := New(&opdef.Project{Manifest: manifest.Manifest{Name: "k", Version: "1.0"}}, Source{}, "", ""); err == nil {
		t.Error("a name of one letter passes")
	}
}

// What is not exactly a commit is told apart by its contents.
func TestIdentifiers(t *testing.T) {
	commit := strings.Repeat("ab12", 10)
	one, two := map[string][]byte{"a.py": {1}}, map[string][]byte{"a.py": {2}}
	clean, dirty, bare := kernel(t, Source{Commit: commit}), kernel(t, Source{Commit: commit, Dirty: true}), kernel(t, Source{})
	for _, b := range []Build{{}, {CUDA: "13.2"}} {
		if got, want := clean.id(b, one), "_my_ops_"+b.kind()+"_ab12ab1"; got != want || clean.id(b, two) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, k := range []*Kernel{dirty, bare} {
		first, second := k.id(Build{}, one), k.id(Build{}, two)
		if first == second || strings.Contains(first, "ab12ab1") || strings.HasSuffix(first, "_dirty") != k.Source.Dirty {
			t.Errorf("%s and %s for other contents", first, second)
		}
	}
}

// The metadata name the commit and the version of the tool.
func TestProvenance(t *testing.T) {
	got, err := kernel(t, Source{Commit: "ab12"}).metadata("x", Build{}, nil)
	if err != nil || !strings.Contains(string(got), `"version": "opcast 0.1.0"`) || !strings.Contains(string(got), `"commit": "ab12"`) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestArchs(t *testing.T) {
	got := archs([]string{"sm_80", "sm_90a", "sm_100f", "compute_120"})
	if want := []string{"10.0f", "12.0+PTX", "8.0", "9.0a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindSource(t *testing.T) {
	dir := t.TempDir()
	git := func(words ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, words...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", words, err, out)
		}
	}
	put := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(state string, known, dirty bool) {
		t.Helper()
		if s := FindSource(t.Context(), dir, manifest.File); (s.Commit != "") != known || s.Dirty != dirty {
			t.Errorf("%s: %+v", state, s)
		}
	}
	put(manifest.File, "")
	expect("no repository", false, false)
	git("init", "--quiet")
	expect("not added", false, false)
	git("add", manifest.File)
	expect("no commit", false, false)
	git("commit", "--quiet", "-m", "one")
	expect("committed", true, false)
	put("dist/demo.whl", "")
	put("backend/gen/demo.gen.h", "")
	expect("files that commands make", true, false)
	put("opdefs/demo.toml", "")
	expect("another source", true, true)
	git("add", "opdefs")
	git("commit", "--quiet", "-m", "two")
	expect("committed, too", true, false)
	put(manifest.File, "changed")
	expect("changed", true, true)
}
