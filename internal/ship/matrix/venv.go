package matrix

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/opcast/opcast/internal/results/report"
)

//go:embed prove.py
var proveScript string

// install makes the environment in dir under the first Python for which there are packages, and returns its interpreter.
func (r *runner) install(ctx context.Context, dir string, e Environment) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, installDeadline)
	defer cancel()
	list := candidates(e, r.options.Pythons)
	if len(list) == 0 {
		return "", &unmakeableError{strings.TrimSpace("no Python "+e.Python) + " on this machine"}
	}
	env := filepath.Join(dir, "env")
	python := filepath.Join(env, "bin", "python")
	for _, base := range list {
		words := []string{r.options.UV, "venv", "--quiet", "--clear", "--no-python-downloads", "--python", base.Path, env}
		if _, err := r.output(ctx, dir, words...); err != nil {
			return "", fmt.Errorf("make environment: %w", err)
		}
		err := r.uv(ctx, python, e, slices.Concat(e.Requires, e.wheels)...)
		if err == nil {
			return python, nil
		}
		if name := missingDistribution(err); name != "" {
			return "", fmt.Errorf("install: there is no distribution %s", name)
		}
		if !unsolvable(err) {
			return "", fmt.Errorf("install: %w", err)
		}
	}
	return "", &unmakeableError{r.unavailable(ctx, python, e, list[len(list)-1])}
}

// uv installs requirements.
func (r *runner) uv(ctx context.Context, python string, e Environment, requires ...string) error {
	resolution := "highest"
	if e.Oldest {
		resolution = "lowest-direct"
	}
	words := []string{r.options.UV, "pip", "install", "--quiet", "--python", python, "--resolution", resolution, "--"}
	_, err := r.output(ctx, filepath.Dir(python), append(words, requires...)...)
	return err
}

// unavailable says which of the requirements have no version for a Python.
func (r *runner) unavailable(ctx context.Context, python string, e Environment, base Interpreter) string {
	var none []string
	for _, requirement := range e.Requires {
		if unsolvable(r.uv(ctx, python, e, requirement)) {
			none = append(none, requirement)
		}
	}
	if len(none) == 0 {
		return "no versions of " + strings.Join(e.Requires, ", ") + " go together under Python " + base.Series
	}
	return "there is no " + strings.Join(none, " and no ") + " for Python " + base.Series
}

// unsolvable reports whether the installer proved that there are no such versions. That there is no distribution of a name
// is a mistake of whoever wrote it.
func unsolvable(err error) bool {
	failed := (*commandError)(nil)
	return errors.As(err, &failed) && strings.Contains(failed.text, "No solution found") && missingDistribution(err) == ""
}

var missingPattern = regexp.MustCompile(`Because (\S+) was not found in the package registry`)

// missingDistribution is the name for which the installer finds no distribution; empty if the error says something else.
func missingDistribution(err error) string {
	failed := (*commandError)(nil)
	if !errors.As(err, &failed) {
		return ""
	}
	found := missingPattern.FindStringSubmatch(strings.Join(strings.Fields(failed.text), " ")) // it breaks lines
	if found == nil {
		return ""
	}
	return found[1]
}

// libraryProof is what an interpreter tells about itself and about the library that it loaded.
type libraryProof struct {
	Python, SHA256 string
	Have           map[string]string
}

// verifyLibrary has an environment load the library as the adaptors do, and tell what it loaded.
func (r *runner) verifyLibrary(ctx context.Context, python string, e Environment, v *report.Version) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	p := r.options.Project
	question := struct {
		Paths, Modules, Distributions []string
		Library                       string
	}{
		Paths: []string{}, Modules: []string{p.Manifest.Name + "_backend"}, Library: "lib" + p.Manifest.Name + ".so",
	}
	adaptors := e.packages(p)
	for _, name := range adaptors {
		question.Modules = append(question.Modules, p.Manifest.Name+"_"+name)
	}
	if r.options.Wheels == "" {
		question.Paths = p.ImportFolders(adaptors...)
	}
	for _, requirement := range e.Requires {
		question.Distributions = append(question.Distributions, distribution(requirement))
	}
	text, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("question: %w", err)
	}
	out, err := r.output(ctx, filepath.Dir(python), python, "-B", "-c", proveScript, string(text))
	if err != nil {
		return fmt.Errorf("load the library: %w", err)
	}
	var got libraryProof
	if err := json.Unmarshal(out, &got); err != nil {
		return fmt.Errorf("read the answer of %s: %w", python, err)
	}
	v.Python, v.Have, v.LibrarySHA256 = got.Python, got.Have, got.SHA256
	return nil
}

// test runs the suite in an environment, and reads its report.
func (r *runner) test(ctx context.Context, python string, e Environment, v *report.Version) error {
	ctx, cancel := context.WithTimeout(ctx, testDeadline)
	defer cancel()
	dir := r.reports(e)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return fmt.Errorf("folder of the report: %w", err)
	}
	words := append(slices.Clone(r.options.Test), "--python", python, "--report", dir)
	words = append(words, "--adaptor", strings.Join(e.Adaptors, ","))
	log, err := os.Create(filepath.Join(dir, "log.txt"))
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	failed := r.command(ctx, r.options.Project.Dir, log, append(words, r.options.Ops...)...)
	if err := log.Close(); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	got, err := report.Read(filepath.Join(dir, "report.json"))
	if err != nil {
		return cmp.Or(failed, err) // without a report there is something to say why
	}
	if text := got.InterruptionText(); text != "" {
		return errors.New(text)
	}
	if got.LibrarySHA256 != v.LibrarySHA256 {
		return fmt.Errorf("the suite ran on library %.12s, Python loads %.12s", got.LibrarySHA256, v.LibrarySHA256)
	}
	sum := got.Summary()
	v.Passed, v.Failed, v.Skipped = sum.Passed, sum.Failed, sum.Skipped
	r.Report.SuiteVersion, r.Report.OpdefsDigest = got.SuiteVersion, got.OpdefsDigest
	if sum.Passed == 0 {
		return errors.New("no check passed")
	}
	return nil
}

// output returns what a command prints.
func (r *runner) output(ctx context.Context, dir string, words ...string) ([]byte, error) {
	var out bytes.Buffer
	err := r.command(ctx, dir, &out, words...)
	return out.Bytes(), err
}

// command runs a command; its complaints are the error. It inherits no Python environment.
func (r *runner) command(ctx context.Context, dir string, stdout io.Writer, words ...string) error {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.WaitDelay, cmd.Stdout = dir, endDeadline, stdout
	// In a group of its own, it is told once that it has to end: by us, not by a terminal, too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = slices.DeleteFunc(slices.Clone(r.options.Environ), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return name == "VIRTUAL_ENV" || name == "PYTHONPATH" || name == "PYTHONHOME"
	})
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return &commandError{err, stderr.String()}
	}
	return nil
}

// endDeadline is how long a child process that is told to end may take.
const endDeadline = 30 * time.Second

// commandError is a command that failed, with all that it complained about.
type commandError struct {
	err  error
	text string
}

// Error is the last line, which is where programs say what is wrong.
func (e *commandError) Error() string {
	text := strings.TrimSpace(e.text)
	text = strings.TrimPrefix(text[strings.LastIndex(text, "\n")+1:], "opcast: ")
	if text == "" {
		return e.err.Error()
	}
	return text
}

func (e *commandError) Unwrap() error { return e.err }
