package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the pages show is what happens.
func TestBlocks(t *testing.T) {
	t.Parallel()
	dir := root(t)
	words := []string{python(t), filepath.Join("internal", "e2e", "blocks", "run.py")}
	if testing.Short() { // the page left out compiles an extension of PyTorch; TestDrafts and TestCompare try what it shows
		words = append(words, strings.Fields(run(t, command(t, dir, "git", "ls-files", "*.md", ":!docs/migrate.md")))...)
	}
	t.Log(run(t, command(t, dir, words...)))
}

// The targets that the Makefile declares as commands, but the tool itself, in their order.
func phony(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`(?m)^\.PHONY: (.+) opcast$`).FindStringSubmatch(string(text))
	if match == nil {
		t.Fatal("the Makefile declares no commands, and the tool as the last of them")
	}
	return strings.Fields(match[1])
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
	if diff := cmp.Diff(phony(t), targets); diff != "" {
		t.Errorf("targets (-declared +listed):\n%s", diff)
	}
	for _, target := range targets {
		run(t, command(t, root(t), "make", "--dry-run", target))
	}
}
