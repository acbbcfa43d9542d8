// Package e2e tries what the repository's parts make together: the C++ runtime, the installed packages, every Python
// of the machine, the example and the Makefile.
package e2e

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/testkit/faultinject"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// shared is a folder of what several tests use. It lives as long as the test program.
var shared struct {
	sync.Mutex
	dir  string
	made map[string]string
}

func TestMain(m *testing.M) {
	if code, traced := faultinject.Tracer(); traced {
		os.Exit(code)
	}
	// A header that is linked once more, as uv does with the files in its cache, has changed for who compiles beside that.
	_ = os.Setenv("UV_LINK_MODE", "copy")
	_ = os.Unsetenv(compiler.ArchVariable)   // projects of tests say what they are built for
	if os.Getenv("OPCAST_CACHE_DIR") == "" { // tests keep nothing at home
		_ = os.Setenv("OPCAST_CACHE_DIR", os.DevNull)
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup; commands would ignore it, too, but not what is caught here
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	code := tooltest.Run(m)
	_ = os.RemoveAll(shared.dir)
	os.Exit(code)
}

// sharedFolder is the folder of this name. The first test that asks for it fills it.
func sharedFolder(t *testing.T, name string, fill func(dir string)) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if dir := shared.made[name]; dir != "" {
		return dir
	}
	if shared.made == nil {
		dir, err := os.MkdirTemp("", "opcast-e2e-*")
		if err != nil {
			t.Fatal(err)
		}
		shared.dir, shared.made = dir, map[string]string{}
	}
	dir, err := os.MkdirTemp(shared.dir, name+"-*")
	if err != nil {
		t.Fatal(err)
	}
	fill(dir)
	shared.made[name] = dir
	return dir
}

// root is the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// python is the environment's interpreter. Only a bare `go test` may go without.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("OPCAST_TEST_PYTHON")
	if path == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python: run make test")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("OPCAST_TEST_PYTHON: %v", err)
	}
	return path
}

// opcast runs the command and returns its exit code and what it printed.
func opcast(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	cmd := command(t, "", append([]string{tooltest.Path(t)}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &err
	if failed, exit := cmd.Run(), (*exec.ExitError)(nil); failed != nil && !errors.As(failed, &exit) {
		t.Error(failed) // not Fatal: some tests run commands at the same time
	}
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

// run returns what a command prints to stdout and fails the test if the command fails.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, stderr.String())
	}
	return string(out)
}

// command is a command in dir that ends when the test does.
func command(t *testing.T, dir string, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	return cmd
}

// environment makes an empty virtual environment of the given interpreter and returns its interpreter and an
// installer of requirements.
func environment(t *testing.T, interpreter string) (python_ string, install func(requirements ...string)) {
	t.Helper()
	return environmentIn(t, filepath.Join(t.TempDir(), "env"), interpreter)
}

func environmentIn(t *testing.T, dir, interpreter string) (python_ string, install func(requirements ...string)) {
	t.Helper()
	uv := filepath.Join(filepath.Dir(python(t)), "uv")
	run(t, command(t, root(t), uv, "venv", "--quiet", "--no-python-downloads", "--python", interpreter, dir))
	python_ = filepath.Join(dir, "bin", "python")
	return python_, func(requirements ...string) {
		t.Helper()
		run(t, command(t, root(t), append([]string{uv, "pip", "install", "--quiet", "--python", python_}, requirements...)...))
	}
}

// pins are the pinned requirements whose distributions are named.
func pins(t *testing.T, distributions ...string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "requirements", "test.in"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range distributions {
		for _, line := range strings.Fields(string(text)) {
			if strings.HasPrefix(line, d+"==") {
				found = append(found, line)
			}
		}
	}
	if len(found) != len(distributions) {
		t.Fatalf("requirements/test.in pins %q of %q", found, distributions)
	}
	return found
}
