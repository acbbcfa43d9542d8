package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestEndToEnd runs whole stories with the real compiler and the real frameworks. The scripts see the interpreter that
// has the frameworks as $PYTHON and the repository, whose own collection is built, as $REPO.
func TestEndToEnd(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python: run make test")
	}
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/e2e",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"code": code, "tell": tell, "edit": edit},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PYTHON", python)
			env.Setenv("REPO", repo)
			// The compiler, and what it has compiled already.
			for _, key := range []string{"CXX", "CCACHE_DIR"} {
				env.Setenv(key, os.Getenv(key))
			}
			env.Setenv("OPCAST_CACHE_DIR", cmp.Or(os.Getenv("OPCAST_CACHE_DIR"), os.DevNull))
			// ninja lies beside the interpreter.
			env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(python))
			return nil
		},
	})
}

// varying is what differs from one run to the next in what commands print, and what stands for it in a script.
var varying = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`(?m)^\[\d+/\d+\] .*\n`), ""}, // progress of a build
	{regexp.MustCompile(`SHA-256 [0-9a-f]{64}`), "SHA-256 ..."},
	{regexp.MustCompile(`(?m)^time: .*`), "time: ..."},
}

// tell runs a command, expects an exit code as code does, and leaves all that the command printed in $WORK/told, without
// what varies: tell 1 opcast check.
func tell(ts *testscript.TestScript, neg bool, args []string) {
	code(ts, neg, args)
	told := strings.ReplaceAll(ts.ReadFile("stdout")+ts.ReadFile("stderr"), ts.Getenv("WORK"), "$WORK")
	for _, v := range varying {
		told = v.pattern.ReplaceAllLiteralString(told, v.text)
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "told"), []byte(told), 0o644))
}

// edit replaces text that a file holds once; \n begins a line of the new text: edit FILE OLD NEW.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit file old new")
	}
	text, lines := ts.ReadFile(args[0]), strings.ReplaceAll(args[2], `\n`, "\n")
	if n := strings.Count(text, args[1]); n != 1 {
		ts.Fatalf("%s holds %q %d times", args[0], args[1], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], lines, 1)), 0o644))
}
