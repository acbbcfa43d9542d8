package e2e

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// opcallSays is what the examples in C, Go and Rust print: a result, and an error.
const opcallSays = "ValueError: rms_norm: eps: expected at least 0, got -1\n"

// opcallLibraries are libtvm_ffi, the collection's library and the folder of tvm-ffi's headers.
func opcallLibraries(t *testing.T) (tvmFFI, library, include string) {
	t.Helper()
	env, err := pyenv.Find(t.Context(), pyenv.Query{Python: python(t), Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	library = filepath.Join(root(t), "backend", "python", "src", "opcast_backend", "lib", "libopcast.so")
	if _, err := os.Stat(library); err != nil {
		t.Fatalf("%v: run make build", err)
	}
	return env.TVMLibrary, library, env.TVMInclude
}

// The example in C compiles without a warning, is short, and runs without Python.
func TestOpCallC(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	tvmFFI, library, include := opcallLibraries(t)
	source, program := filepath.Join(root(t), "examples", "c", "main.c"), filepath.Join(t.TempDir(), "main")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 60 {
		t.Errorf("%s has %d lines, want at most 60", source, n)
	}
	run(t, command(t, t.TempDir(), "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-isystem", include, "-o", program, source,
		"-L", filepath.Dir(tvmFFI), "-ltvm_ffi", "-ldl", "-Wl,-rpath,"+filepath.Dir(tvmFFI)))
	if got, want := run(t, command(t, t.TempDir(), program, library)), "0.83205 1.1094\n0.844317 1.12576\n"+opcallSays; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	cmd := command(t, t.TempDir(), program)
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "usage") {
		t.Errorf("without a library: %v %s", err, out)
	}
}

// The example in Rust compiles without a warning and without crates. Rust is nothing that the repository needs.
func TestOpCallRust(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rustc"); err != nil {
		t.Skip("no rustc")
	}
	tvmFFI, library, _ := opcallLibraries(t)
	source, program := filepath.Join(root(t), "examples", "rust", "main.rs"), filepath.Join(t.TempDir(), "main")
	run(t, command(t, t.TempDir(), "rustc", "--edition", "2021", "-D", "warnings", "-o", program, source,
		"-L", filepath.Dir(tvmFFI), "-C", "link-arg=-Wl,-rpath,"+filepath.Dir(tvmFFI)))
	if got, want := run(t, command(t, t.TempDir(), program, library)), "[0.8320503, 1.1094004, 0.844317, 1.125756]\n"+opcallSays; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The example in Go runs without cgo, copied out of the repository into a module of its own.
func TestOpCallGo(t *testing.T) {
	t.Parallel()
	tvmFFI, library, _ := opcallLibraries(t)
	dir := t.TempDir()
	source, err := os.ReadFile(filepath.Join(root(t), "examples", "go", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "main.go"), source)
	version := run(t, command(t, root(t), "go", "list", "-m", "-f", "{{.Path}}@{{.Version}}", "github.com/ebitengine/purego"))
	sums, err := os.ReadFile(filepath.Join(root(t), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.sum"), sums)
	for _, words := range [][]string{
		{"go", "mod", "init", "caller"},
		{"go", "mod", "edit", "-require", strings.TrimSpace(version)},
		{"go", "build", "-o", "caller", "."},
	} {
		cmd := command(t, dir, words...)
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod")
		run(t, cmd)
	}
	got := run(t, command(t, dir, "./caller", tvmFFI, library))
	// Last digits depend on the instruction set.
	want := regexp.MustCompile(`^\[0\.83205\d* 1\.10940\d*]\n\[0\.84431\d* 1\.12575\d*]\n` + regexp.QuoteMeta(opcallSays) + "$")
	if !want.MatchString(got) {
		t.Errorf("got %q, want %s", got, want)
	}
}

//go:embed opcall.py
var opcallScript string

// Arrays of any framework, on their own and mixed, give the same bits; wrong calls are refused in the words of the op.
func TestOpCallPython(t *testing.T) {
	t.Parallel()
	t.Log(run(t, command(t, t.TempDir(), python(t), "-P", "-c", opcallScript)))
}

//go:embed opcall_foreign.py
var opcallForeignScript string

// Arrays of frameworks that are not installed, and devices that there cannot be.
func TestOpCallForeign(t *testing.T) {
	t.Parallel()
	t.Log(run(t, command(t, t.TempDir(), python(t), "-P", "-c", opcallForeignScript)))
}

//go:embed opcall_streams.py
var opcallStreamsScript string

// On a GPU the call runs on the stream of one framework, and other arrays are exported for that stream.
func TestOpCallStreams(t *testing.T) {
	run(t, command(t, t.TempDir(), python(t), "-P", "-c", opcallStreamsScript))
}

// opcallOpen loads the collection into this process.
func opcallOpen(t *testing.T) *tvmffi.Library {
	t.Helper()
	tvmFFI, path, _ := opcallLibraries(t)
	library, err := tvmffi.Open(tvmFFI, path)
	if err != nil {
		t.Fatal(err)
	}
	return library
}
