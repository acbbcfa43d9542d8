package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
)

// toy is a project that was never built.
var toy = filepath.Join("..", "..", "..", "..", "conformance", "internal", "run", "testdata", "toy")

// start runs a command line in this process, as a program that cannot start itself again.
func start(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Main(t.Context(), Process{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err}, args)
	return code, out.String(), err.String()
}

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

// installed is what the suite needs of Python.
const installed = `"apache-tvm-ffi": "1", "ml-dtypes": "1", "numpy": "1"`

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
	for name, test := range map[string]struct {
		packages string
		args     []string
		code     int
		stderr   string
	}{
		"not built":       {installed, []string{"--no-build"}, app.ExitMachine, "the library is not built: "},
		"what to run":     {installed, []string{"--no-build"}, app.ExitMachine, "run: opcast build"},
		"not installed":   {installed, []string{"--installed"}, app.ExitMachine, "lacks toy-backend\n  run: opcast wheel, and install"},
		"two sources":     {installed, []string{"--installed", "--opdefs", "."}, app.ExitUsage, "--installed tests the packages of a project"},
		"unknown op":      {installed, []string{"nonsense"}, app.ExitUsage, `op "nonsense": unknown name`},
		"unknown adaptor": {installed, []string{"--adaptor", "paddle"}, app.ExitUsage, `adaptor "paddle": unknown name`},
		"unknown device":  {installed, []string{"--device", "tpu"}, app.ExitUsage, `unknown device "tpu": devices are cpu, cuda, rocm, emulated and emulated-rocm`},
		"no last run":     {installed, []string{"--last-failed", "--report", "nowhere"}, app.ExitUsage, "there is no last run"},
		"no spec":         {installed, []string{"--only", os.DevNull}, app.ExitUsage, "nothing is chosen"},
		"unknown caller":  {installed, []string{"--callable", "native:affine=m:f"}, app.ExitUsage, `adaptor "native" of m:f: unknown name`},
		"no file":         {installed, []string{"--only", "nowhere"}, app.ExitUsage, "open nowhere: no such file"},
		"no known":        {installed, []string{"--known", "nowhere"}, app.ExitUsage, "open nowhere: no such file"},
		"no TOML":         {installed, []string{"--known", "judge_test.go"}, app.ExitUsage, "wrong file: judge_test.go: toml: "},
		"no folder":       {installed, []string{"--report", "judge_test.go"}, app.ExitUsage, "expected a folder, it is a file"},
		"below no folder": {installed, []string{"--report", "judge_test.go/x"}, app.ExitUsage, "expected a folder, it is a file"},
		"no report":       {installed, []string{"--last-failed", "--report", garbage(t)}, app.ExitUsage, "last run: wrong file: "},
		"no jobs":         {installed, []string{"--jobs", "0"}, app.ExitUsage, "--jobs 0: expected at least 1"},
		"minus jobs":      {installed, []string{"--jobs=-1"}, app.ExitUsage, "--jobs -1: expected at least 1"},
		"minus random":    {installed, []string{"--random=-5"}, app.ExitUsage, "--random -5: expected at least 0"},
		"minus total":     {installed, []string{"--random-total=-5"}, app.ExitUsage, "--random-total -5: expected at least 0"},
		"no itself":       {installed, []string{"--jobs", "2"}, 1, "cannot start itself again"},
		"two profiles":    {installed, []string{"--fast", "--profile", "core"}, app.ExitUsage, "--fast stands for --profile fast: give one of them"},
		"no profile":      {installed, []string{"--profile", "quick"}, app.ExitUsage, `unknown profile "quick": profiles are fast, core and extended`},
		"no time":         {installed, []string{"--timeout", "-1s"}, app.ExitUsage, "--timeout -1s: expected a duration such as 30s"},
		"no comparison":   {installed, []string{"--against", "numpy:m:f"}, app.ExitUsage, "unknown flag: --against"},
		"no mutants":      {installed, []string{"--mutants"}, app.ExitUsage, "unknown flag: --mutants"},
		"no matrix":       {installed, []string{"--matrix"}, app.ExitUsage, "unknown flag: --matrix"},
		"no library":      {installed, []string{"--library", "nowhere.so"}, app.ExitMachine, "library cannot be tested here: stat "},
		"a folder":        {installed, []string{"--library", "."}, app.ExitMachine, " is a folder"},
		"no numpy":        {`"apache-tvm-ffi": "1", "ml-dtypes": "1"`, nil, app.ExitMachine, "pip install numpy"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-C", toy, "test", "--python", fakePython(t, test.packages)}, test.args...)
			code, _, stderr := start(t, args...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stderr)
			}
			if strings.Count(stderr, "run: opcast build") > 1 {
				t.Errorf("the same advice twice:\n%s", stderr)
			}
		})
	}
}

func TestMutantsUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"unknown op":      {[]string{"nonsense"}, app.ExitUsage, `op "nonsense": unknown name`},
		"unknown adaptor": {[]string{"--adaptor", "nonsense"}, app.ExitUsage, `adaptor "nonsense": unknown name`},
		"definitions":     {[]string{"--opdefs", "x"}, app.ExitUsage, "unknown flag: --opdefs"},
		"jobs":            {[]string{"--jobs", "2"}, app.ExitUsage, "unknown flag: --jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := start(t, append([]string{"-C", toy, "mutants", "--python", fakePython(t, installed)}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stderr)
			}
		})
	}
}

func TestMatrixUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"not built":       {[]string{"--no-build"}, app.ExitMachine, "run: opcast build"},
		"unknown op":      {[]string{"nonsense"}, app.ExitUsage, `there is no op "nonsense"`},
		"no such project": {[]string{"-C", "nowhere"}, app.ExitUsage, "nowhere is no project"},
		"no jobs":         {[]string{"--jobs", "0"}, app.ExitUsage, "--jobs 0: expected at least 1"},
		"no profile":      {[]string{"--profile", "x"}, app.ExitUsage, `unknown profile "x": profiles are fast, core and extended`},
		"adaptor":         {[]string{"--adaptor", "numpy"}, app.ExitUsage, "unknown flag: --adaptor"},
		"random":          {[]string{"--random-total", "9"}, app.ExitUsage, "unknown flag: --random-total"},
		"shard":           {[]string{"--shard", "1/2"}, app.ExitUsage, "unknown flag: --shard"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := start(t, append([]string{"-C", toy, "matrix", "--python", fakePython(t, "")}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stderr)
			}
		})
	}
}

func TestCompareUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"not built":    {[]string{"affine", "numpy:m.f", "--no-build"}, app.ExitMachine, "run: opcast build"},
		"no words":     {nil, app.ExitUsage, "requires at least 2 arg"},
		"no op":        {[]string{"numpy:m.f", "torch:m.f"}, app.ExitUsage, `"numpy:m.f" follows no op`},
		"no function":  {[]string{"affine", "ragged", "numpy:m.f"}, app.ExitUsage, `op "affine" has nothing to be compared with`},
		"none at last": {[]string{"affine", "numpy:m.f", "ragged"}, app.ExitUsage, `op "ragged" has nothing to be compared with`},
		"no module":    {[]string{"affine", "numpy:f"}, app.ExitUsage, `"numpy:f" names no function`},
		"no adaptor":   {[]string{"affine", ":m.f"}, app.ExitUsage, `":m.f" names no function`},
		"no framework": {[]string{"affine", "backend:m:f"}, app.ExitUsage, `adaptor "backend" of m:f: unknown name`},
		"unknown op":   {[]string{"nonsense", "numpy:m:f"}, app.ExitUsage, `op "nonsense" of m:f: unknown name`},
		"only":         {[]string{"affine", "numpy:m:f", "--only", "x"}, app.ExitUsage, "unknown flag: --only"},
		"no device":    {[]string{"affine", "numpy:m:f", "--device", "tpu"}, app.ExitUsage, `unknown device "tpu"`},
		"no folder":    {[]string{"affine", "numpy:m:f", "--report", "judge_test.go"}, app.ExitUsage, "expected a folder, it is a file"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := start(t, append([]string{"-C", toy, "compare", "--python", fakePython(t, installed)}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stderr)
			}
		})
	}
}
