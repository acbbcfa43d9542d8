package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the README and the page on errors show is what happens.
func TestReadme(t *testing.T) {
	dir := root(t)
	t.Log(run(t, command(t, dir, python(t), filepath.Join("examples", "check_readme.py"))))
}

// Help lists every target that is meant for people, and each of them can be planned.
func TestMakefile(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	var targets []string
	for _, line := range strings.Split(strings.TrimSpace(run(t, command(t, root(t), "make", "--no-print-directory"))), "\n") {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "make" {
			t.Fatalf("help prints %q, want a target and its purpose", line)
		}
		targets = append(targets, words[1])
	}
	want := []string{"help", "quickstart", "gen", "build", "cuda", "check", "format", "lint", "test", "conformance", "bench", "clean"}
	if diff := cmp.Diff(want, targets); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	for _, target := range targets {
		run(t, command(t, root(t), "make", "--dry-run", target))
	}
}
