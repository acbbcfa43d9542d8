package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakePython is an interpreter that says what is installed, and cannot run anything.
func fakePython(t *testing.T, packages string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	script := "#!/bin/sh\necho '{\"version\": \"3.12.1\", \"packages\": {" + packages + "}}'\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// garbage is the folder of a report that is none.
func garbage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "report.json"), []byte("garbage"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTestCommand(t *testing.T) {
	const installed = `"apache-tvm-ffi": "1", "ml-dtypes": "1", "numpy": "1"`
	for name, test := range map[string]struct {
		packages string
		args     []string
		code     int
		stderr   string
	}{
		"not built":       {installed, nil, exitMachine, "the library is not built: "},
		"what to run":     {installed, nil, exitMachine, "run: opcast build"},
		"unknown op":      {installed, []string{"nonsense"}, exitUsage, `op "nonsense": unknown name`},
		"unknown adaptor": {installed, []string{"--adaptor", "paddle"}, exitUsage, `adaptor "paddle": unknown name`},
		"unknown device":  {installed, []string{"--device", "tpu"}, exitUsage, `unknown device "tpu": devices are cpu and cuda`},
		"no mutants":      {installed, []string{"--mutant", "x"}, exitUsage, "--mutant needs --mutants"},
		"no table":        {installed, []string{"--markdown", "x"}, exitUsage, "--markdown needs --mutants or --matrix"},
		"not compared":    {installed, []string{"--against", "numpy:m:f", "--only", "x"}, exitUsage, "--against and --only do not go together"},
		"no last run":     {installed, []string{"--last-failed", "--report", "nowhere"}, exitUsage, "there is no last run"},
		"no spec":         {installed, []string{"--only", os.DevNull}, exitUsage, "nothing is chosen"},
		"unknown caller":  {installed, []string{"--callable", "native:affine=m:f"}, exitUsage, `adaptor "native" of m:f: unknown name`},
		"no framework":    {installed, []string{"affine", "--against", "backend:m:f"}, exitUsage, `adaptor "backend" of m:f: unknown name`},
		"no file":         {installed, []string{"--only", "nowhere"}, exitUsage, "open nowhere: no such file"},
		"no known":        {installed, []string{"--known", "nowhere"}, exitUsage, "open nowhere: no such file"},
		"no TOML":         {installed, []string{"--known", "test_test.go"}, exitUsage, "wrong file: test_test.go: toml: "},
		"no folder":       {installed, []string{"--report", "test_test.go"}, exitUsage, "expected a folder, it is a file"},
		"below no folder": {installed, []string{"--report", "test_test.go/x"}, exitUsage, "expected a folder, it is a file"},
		"no report":       {installed, []string{"--last-failed", "--report", garbage(t)}, exitUsage, "last run: wrong file: "},
		"no jobs":         {installed, []string{"--jobs", "0"}, exitUsage, "--jobs 0: expected at least 1"},
		"minus jobs":      {installed, []string{"--jobs=-1"}, exitUsage, "--jobs -1: expected at least 1"},
		"minus random":    {installed, []string{"--random=-5"}, exitUsage, "--random -5: expected at least 0"},
		"minus total":     {installed, []string{"--random-total=-5"}, exitUsage, "--random-total -5: expected at least 0"},
		"not planted":     {installed, []string{"--mutants", "--opdefs", "x"}, exitUsage, "--mutants and --opdefs do not go together"},
		"no library":      {installed, []string{"--library", "nowhere.so"}, exitMachine, "library cannot be tested here: stat "},
		"a folder":        {installed, []string{"--library", "."}, exitMachine, " is a folder"},
		"no numpy":        {`"apache-tvm-ffi": "1", "ml-dtypes": "1"`, nil, exitMachine, "pip install numpy"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{
				"-C", filepath.Join("..", "..", "conformance", "testdata", "toy"), "test", "--python", fakePython(t, test.packages),
			}, test.args...)
			code := Main(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, &stderr)
			}
		})
	}
}
