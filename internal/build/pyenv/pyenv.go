// Package pyenv finds the Python environment to work in and says what is installed there, without importing any of it.
package pyenv

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/framework"
)

// Env is one Python environment.
type Env struct {
	// Python is the interpreter, Version its version ("3.11.7"), Site the folder of installed packages.
	Python, Version, Site string
	// TVMInclude and TVMLibrary are tvm-ffi's header folder and libtvm_ffi.so, Ninja and NVCC are the programs; each is empty
	// where the package is missing.
	TVMInclude, TVMLibrary, Ninja, NVCC string
	// Includes are the header folders of frameworks by their packages ("jaxlib"); those of missing ones are empty.
	Includes map[string]string
	// Packages maps distributions ("apache-tvm-ffi") to their versions.
	Packages map[string]string
}

// Query says where to look.
type Query struct {
	// Python is an interpreter or the folder of an environment that the user named; empty otherwise.
	Python string
	// Dir is the project, in which .venv is looked for last.
	Dir    string
	Getenv func(string) string
}

//go:embed probe.py
var probe string

// tooOld is what older interpreters are told: NumPy, which everything here needs, has no version for them.
const tooOld = "older than Python 3.10"

// launch runs the program in its argument, unless the interpreter could not even read it. It takes the current folder off
// the module path, for which -P is there in newer ones only.
const launch = "import sys\nsys.path[:] = [p for p in sys.path if p]\n" +
	"if sys.version_info < (3, 10): sys.exit('" + tooOld + "')\nexec(sys.argv[1])"

// Find returns the environment that the query names, else the active one, else the project's .venv.
func Find(ctx context.Context, q Query) (*Env, error) {
	python, err := locate(q)
	if err != nil {
		return nil, err
	}
	words := []string{"-c", launch, probe}
	for _, fw := range framework.All() {
		if fw.Handlers.Package != "" {
			words = append(words, fw.Handlers.Package)
		}
	}
	cmd := exec.CommandContext(ctx, python, words...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if strings.Contains(stderr.String(), tooOld) {
			return nil, &MissingError{Text: python + " is " + tooOld}
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("ask %s for its packages: %w", python, ctx.Err())
		}
		text := fmt.Sprintf("ask %s for its packages: %v\n%s", python, err, bytes.TrimSpace(stderr.Bytes()))
		return nil, &MissingError{Text: text}
	}
	env := &Env{Python: python}
	if err := json.Unmarshal(out, env); err != nil {
		return nil, &MissingError{Text: fmt.Sprintf("%s is no Python: read the answer to what it has: %v", python, err)}
	}
	return env, nil
}

// Run runs a Python program in the environment, with arguments after those of the interpreter's own, and returns what it prints.
func (e *Env) Run(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, e.Python, append([]string{"-c", launch, program}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w\n%s", e.Python, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// locate applies the order of the package: named, active, .venv.
func locate(q Query) (string, error) {
	if q.Python != "" {
		return interpreter(q.Python)
	}
	if active := q.Getenv("VIRTUAL_ENV"); active != "" {
		return interpreter(active)
	}
	local := filepath.Join(q.Dir, ".venv")
	if _, err := os.Stat(local); errors.Is(err, os.ErrNotExist) {
		pip := filepath.Join(local, "bin", "python") + " -m pip"
		return "", &MissingError{
			Text:    "no Python environment: none is active, --python is not given and there is no " + local,
			Command: "python3 -m venv " + local + " && " + installCommand(pip, Required()...),
		}
	}
	return interpreter(local)
}

// AnyInterpreter is the interpreter of the environment that the query names, or else python3 on PATH; empty if there is none.
func AnyInterpreter(q Query) string {
	if python, err := locate(q); err == nil {
		return python
	}
	python, _ := exec.LookPath("python3") // empty if there is none
	return python
}

// interpreter accepts an environment's folder, a program's path or a program's name on PATH.
func interpreter(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "bin", "python")
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", &MissingError{Text: "no Python interpreter " + path}
	}
	// Not EvalSymlinks: a virtual environment is known by the path of its link.
	return filepath.Abs(found)
}

// Require returns a MissingError about those distributions that are not installed, or nil.
func (e *Env) Require(distributions ...string) error {
	if lacking := e.Lacking(distributions...); len(lacking) > 0 {
		return e.Missing(lacking...)
	}
	return nil
}

// Lacking are those of the distributions that are not installed.
func (e *Env) Lacking(distributions ...string) []string {
	return slices.DeleteFunc(slices.Clone(distributions), func(d string) bool { return e.Packages[d] != "" })
}

// Missing is the error that the environment lacks all the given distributions.
func (e *Env) Missing(distributions ...string) error {
	return &MissingError{
		Text:    e.Python + " lacks " + strings.Join(distributions, ", "),
		Command: e.InstallCommand(distributions...),
	}
}

// InstallCommand is the shell command that installs the distributions into the environment.
func (e *Env) InstallCommand(distributions ...string) string {
	return installCommand(e.Python+" -m pip", distributions...)
}
