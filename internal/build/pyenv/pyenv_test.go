package pyenv

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/framework"
)

// fakeEnv makes an environment whose interpreter is the shell script.
func fakeEnv(t *testing.T, dir, script string) string {
	t.Helper()
	python := filepath.Join(dir, "bin", "python")
	if err := os.MkdirAll(filepath.Dir(python), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(python, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return python
}

const answer = `echo '{"version": "3.12.1", "site": "/site", "tvmInclude": "/inc", "packages": {"ninja": "1"}}'`

func TestFindOrder(t *testing.T) {
	project, active, named := t.TempDir(), t.TempDir(), t.TempDir()
	local := fakeEnv(t, filepath.Join(project, ".venv"), answer)
	tests := map[string]struct{ named, active, want string }{
		"named wins":            {named, active, fakeEnv(t, named, answer)},
		"named by program":      {filepath.Join(named, "bin", "python"), "", filepath.Join(named, "bin", "python")},
		"active before project": {"", active, fakeEnv(t, active, answer)},
		"project":               {"", "", local},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			getenv := func(key string) string { return map[string]string{"VIRTUAL_ENV": tt.active}[key] }
			env, err := Find(t.Context(), Query{Python: tt.named, Dir: project, Getenv: getenv})
			if err != nil {
				t.Fatal(err)
			}
			want := &Env{Python: tt.want, Version: "3.12.1", Site: "/site", TVMInclude: "/inc",
				Packages: map[string]string{"ninja": "1"}}
			if diff := cmp.Diff(want, env); diff != "" {
				t.Errorf("env (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindErrors(t *testing.T) {
	tests := map[string]struct {
		script, want string
		exit         int
	}{
		"none":   {"", "python3 -m venv", 3},
		"old":    {"echo 'older than Python 3.10' >&2; exit 1", "older than Python 3.10", 3},
		"broken": {"echo 'no encodings' >&2; exit 1", "no encodings", 3},
		"chatty": {"echo hello", "read the answer", 3},
		"silent": {"exit 0", "is no Python", 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.script != "" {
				fakeEnv(t, filepath.Join(dir, ".venv"), tt.script)
			}
			_, err := Find(t.Context(), Query{Dir: dir, Getenv: func(string) string { return "" }})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q in it", err, tt.want)
			}
			var missing *MissingError
			if got := errors.As(err, &missing); got != (tt.exit == 3) {
				t.Errorf("is a MissingError: %v; %v", got, err)
			}
		})
	}
}

// An environment that is named and is not there is a lack of the machine, not a finding.
func TestFindNamesWhatIsGone(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	for name, q := range map[string]Query{
		"named":  {Python: gone, Getenv: func(string) string { return "" }},
		"active": {Getenv: func(string) string { return gone }},
		"empty":  {Python: t.TempDir(), Getenv: func(string) string { return "" }},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Find(t.Context(), q)
			var missing *MissingError
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), "no Python interpreter") {
				t.Errorf("error %v, want a MissingError", err)
			}
		})
	}
}

func TestProbeRuns(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on PATH")
	}
	env, err := Find(t.Context(), Query{Python: python})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(env.Version, "3.") || env.Site == "" || env.Packages == nil {
		t.Errorf("incomplete answer: %+v", env)
	}
}

func TestRequire(t *testing.T) {
	env := &Env{Python: "/e/bin/python", Packages: map[string]string{"numpy": "2.4.6"}}
	if err := env.Require("numpy"); err != nil {
		t.Error(err)
	}
	got := env.Require("numpy", "ninja", "apache-tvm-ffi").Error()
	want := "/e/bin/python lacks ninja, apache-tvm-ffi\n" +
		"  run: /e/bin/python -m pip install ninja==1.13.2 apache-tvm-ffi==0.1.15.post2"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

// The commands that the tool proposes must install what the project is tested with.
func TestPinsAgreeWithRequirements(t *testing.T) {
	var lines []string
	for _, file := range []string{"cuda.in", "test.in"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "requirements", file))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Fields(strings.ReplaceAll(string(text), "_", "-"))...)
	}
	all := maps.Clone(pins)
	for _, fw := range framework.All() {
		maps.Copy(all, fw.Pins)
	}
	for name, version := range all {
		found := false
		for _, line := range lines {
			found = found || line == name+"=="+version
		}
		if !found {
			t.Errorf("no file in requirements/ says %s==%s", name, version)
		}
	}
}

// Nothing is installed that was not locked: every package has hashes, and the locked versions are those that were asked for.
func TestRequirementsAreLocked(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "requirements")
	wanted, err := filepath.Glob(filepath.Join(folder, "*.in"))
	if err != nil || len(wanted) == 0 {
		t.Fatalf("no lists in %s: %v", folder, err)
	}
	for _, in := range wanted {
		lock := strings.TrimSuffix(in, ".in") + ".txt"
		locked := lockedVersions(t, lock)
		for _, line := range requirementLines(t, in) {
			name, version, _ := strings.Cut(line, "==")
			name, _, _ = strings.Cut(strings.ReplaceAll(name, "_", "-"), "[")
			if locked[name] != version {
				t.Errorf("%s has %s %q, %s %q: run make requirements", lock, name, locked[name], in, version)
			}
		}
	}
}

// lockedVersions are the versions in a locked list by distribution. Each must have the hash of a file, and no line may say
// where files come from.
func lockedVersions(t *testing.T, lock string) map[string]string {
	t.Helper()
	versions, hashes, last := map[string]string{}, map[string]int{}, ""
	for _, line := range requirementLines(t, lock) {
		if strings.Contains(line, "://") || strings.HasPrefix(line, "--") && !strings.HasPrefix(line, "--hash=sha256:") {
			t.Errorf("%s: unexpected %s", lock, line)
		}
		if strings.HasPrefix(line, "--hash=") {
			hashes[last]++
			continue
		}
		name, rest, _ := strings.Cut(line, "==")
		last = name
		versions[name], _, _ = strings.Cut(rest, " ")
	}
	for name := range versions {
		if hashes[name] == 0 {
			t.Errorf("%s: no hash for %s", lock, name)
		}
	}
	return versions
}

// requirementLines are the lines of a list without comments and what continues them.
func requirementLines(t *testing.T, file string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "\\"))
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}
