package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// manifest is the opcast.toml of scripts that bring none.
const manifest = `name = "demo"
version = "0.1.0"
license = "MIT"
sources = ["csrc/cpu/*.cc"]
`

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"opcast": main})
}

// TestScript runs the commands as a user does. UPDATE=1 rewrites the expected output.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":      code,
			"unchanged": unchanged,
			"fill":      fill,
		},
	})
}

// files is the key under which a script keeps the names of its first files.
type files struct{}

func setup(env *testscript.Env) error {
	name := filepath.Join(env.WorkDir, "opcast.toml")
	if _, err := os.Stat(filepath.Join(env.WorkDir, "opdefs")); err == nil {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(name, []byte(manifest), 0o644); err != nil {
				return err
			}
		}
	}
	list, err := tree(env.WorkDir)
	env.Values[files{}] = list
	return err
}

// tree lists the files below a folder.
func tree(dir string) ([]string, error) {
	var list []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		list = append(list, path)
		return err
	})
	return list, err
}

// code runs a command and expects an exit code: code 1 opcast check.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: N command [args...]")
	}
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, expected %s", got, args[0])
	}
}

// unchanged expects that no file was made or removed since the script began.
func unchanged(ts *testscript.TestScript, _ bool, _ []string) {
	list, err := tree(ts.Getenv("WORK"))
	ts.Check(err)
	if first := ts.Value(files{}).([]string); !slices.Equal(list, first) {
		ts.Fatalf("files changed from %q to %q", first, list)
	}
}

// fill writes a file of many bytes: fill name size.
func fill(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), slices.Repeat([]byte{'#'}, size), 0o644))
}
