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
	"github.com/opcast/opcast/internal/system/git"
)

func kernel(t *testing.T, source git.Source) *Kernel {
	t.Helper()
	k, err := New(&opdef.Project{Manifest: manifest.Manifest{Name: "my_ops", Version: "3.1rc1", License: "MIT"}}, source, "0.1.15.post2", "opcast 0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestNames(t *testing.T) {
	k := kernel(t, git.Source{})
	if k.Name != "my-ops" || k.Version != 3 || k.frameworks()[0] != "tvm-ffi01" {
		t.Errorf("%s, version %d, variants for %q", k.Name, k.Version, k.frameworks())
	}
	for version, want := range map[string]string{"": "cpu", "13.2": "cu132", "12": "cu120"} {
		if got := (Build{CUDA: version}).word(); got != want {
			t.Errorf("CUDA %q is called %s, want %s", version, got, want)
		}
	}
	if _, err := New(&opdef.Project{Manifest: manifest.Manifest{Name: "k", Version: "1.0"}}, git.Source{}, "", ""); err == nil {
		t.Error("a name of one letter passes")
	}
}

// What is not exactly a commit is told apart by its contents.
func TestIdentifiers(t *testing.T) {
	commit := strings.Repeat("ab12", 10)
	one, two := map[string][]byte{"a.py": {1}}, map[string][]byte{"a.py": {2}}
	clean, dirty, bare := kernel(t, git.Source{Commit: commit}), kernel(t, git.Source{Commit: commit, Dirty: true}), kernel(t, git.Source{})
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
	got, err := kernel(t, git.Source{Commit: "ab12"}).metadata("x", Build{}, nil)
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
	call := func(words ...string) {
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
		if s := git.FindSource(t.Context(), dir, manifest.File); (s.Commit != "") != known || s.Dirty != dirty {
			t.Errorf("%s: %+v", state, s)
		}
	}
	put(manifest.File, "")
	expect("no repository", false, false)
	call("init", "--quiet")
	expect("not added", false, false)
	call("add", manifest.File)
	expect("no commit", false, false)
	call("commit", "--quiet", "-m", "one")
	expect("committed", true, false)
	put("dist/demo.whl", "")
	put("backend/gen/demo.gen.h", "")
	expect("files that commands make", true, false)
	put("opdefs/demo.toml", "")
	expect("another source", true, true)
	call("add", "opdefs")
	call("commit", "--quiet", "-m", "two")
	expect("committed, too", true, false)
	put(manifest.File, "changed")
	expect("changed", true, true)
}

// A repository's own configuration can name programs. None of them runs when git is asked about a stranger's project.
func TestHostileRepository(t *testing.T) {
	dir, marks := t.TempDir(), t.TempDir()
	sh := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	evil := func(name string) string { return filepath.Join(marks, name+".sh") }
	for _, name := range []string{"fsmonitor", "clean", "process", "included", "worktree", "textconv", "external", "ssh", "upload", "pager", "alias", "hook", "askpass", "sub"} {
		script := "#!/bin/sh\ntouch '" + filepath.Join(marks, name) + "'\n"
		if err := os.WriteFile(evil(name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sh(`git init -q; echo 'name = "x"' >opcast.toml; mkdir opdefs
		for f in a b c d; do echo >opdefs/$f.toml; echo "opdefs/$f.toml filter=$f diff=x" >>.gitattributes; done
		mkdir sub; (cd sub; git init -q; echo >s; echo 's filter=sub' >.gitattributes; git add .; git commit -q -m s)
		git add . 2>/dev/null; git commit -q -m one
		for f in opdefs/* sub/s; do printf x >$f; touch -d '2001-01-01' $f; done`)
	config := []string{
		"core.fsmonitor", evil("fsmonitor"), "filter.a.clean", evil("clean"), "filter.a.required", "true", "filter.b.process", evil("process"),
		"diff.x.textconv", evil("textconv"), "diff.external", evil("external"), "core.pager", evil("pager"), "pager.status", evil("pager"),
		"alias.status", "!" + evil("alias"), "alias.ls-files", "!" + evil("alias"), "core.hooksPath", marks, "core.askPass", evil("askpass"),
		"extensions.worktreeConfig", "true", "include.path", "included", "core.repositoryFormatVersion", "1", "extensions.partialClone", "origin",
		"remote.origin.promisor", "true", "remote.origin.url", "ssh://host/x", "core.sshCommand", evil("ssh"), "protocol.ssh.allow", "always",
		"remote.origin.uploadpack", evil("upload"), "status.submoduleSummary", "true",
	}
	for i := 0; i < len(config); i += 2 {
		sh("git config '" + config[i] + "' '" + config[i+1] + "'")
	}
	sh("printf '[filter \"c\"]\\n\\tclean = " + evil("included") + "\\n' >.git/included; printf '[filter \"d\"]\\n\\tclean = " + evil("worktree") + "\\n' >.git/config.worktree")
	sh("git -C sub config filter.sub.clean " + evil("sub") + "; git -C sub config core.fsmonitor " + evil("sub"))
	sh("cp " + evil("hook") + " " + filepath.Join(marks, "post-index-change"))
	expectSource := func(known bool) {
		t.Helper()
		if s := git.FindSource(t.Context(), dir, manifest.File); (s.Commit != "") != known || known && !s.Dirty {
			t.Errorf("%+v", s)
		}
		r := git.Open(t.Context(), dir)
		for _, words := range [][]string{{"ls-tree", "-r", "HEAD"}, {"cat-file", "blob", "HEAD:opcast.toml"}, {"cat-file", "blob", strings.Repeat("12", 20)}} {
			_, _ = r.Output(t.Context(), words...)
		}
		for _, mark := range []string{"fsmonitor", "clean", "process", "included", "worktree", "textconv", "external", "ssh", "upload", "pager", "alias", "hook", "askpass", "sub"} {
			if _, err := os.Stat(filepath.Join(marks, mark)); err == nil {
				t.Errorf("%s ran", mark)
			}
		}
	}
	expectSource(true)
	sh("git config 'filter.a=b.clean' " + evil("clean"))
	expectSource(false) // rather than a setting for another filter
}
