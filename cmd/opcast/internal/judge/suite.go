package judge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/safefile"
)

// The flags below belong to several of the commands that run the conformance suite. Each command declares those that it uses.

// testDevices are those on which the suite puts arrays.
var testDevices = []string{"cpu", "cuda", "rocm"}

func testDeviceFlag(cmd *cobra.Command, device *string) {
	cmd.Flags().StringVar(device, "device", "cpu", "put the arrays on this device: cpu, cuda or rocm")
}

func profileFlag(cmd *cobra.Command, profile *string) {
	cmd.Flags().StringVar(profile, "profile", "core",
		`"fast": only values, errors and dtypes; "core"; or "extended": also the checks that need minutes or much memory`)
}

func jobsFlag(cmd *cobra.Command, jobs *int) {
	cmd.Flags().IntVar(jobs, "jobs", 1, "share the run between this many processes")
}

func seedFlag(cmd *cobra.Command, seed *uint64) {
	cmd.Flags().Uint64Var(seed, "seed", 0, "make the random inputs from this number (default a fixed one)")
}

func reportFlag(cmd *cobra.Command, dir *string, standard string) {
	cmd.Flags().StringVar(dir, "report", "", "write the report into this folder (default "+standard+")")
}

func verboseFlag(cmd *cobra.Command, verbose *bool, what string) {
	cmd.Flags().BoolVarP(verbose, "verbose", "v", false, "show "+what)
}

func markdownFlag(cmd *cobra.Command, file *string, what string) {
	cmd.Flags().StringVar(file, "markdown", "", what)
}

// oneOf refuses a word that is none of the choices of a flag.
func oneOf(flag, value string, choices ...string) error {
	if !slices.Contains(choices, value) {
		last := len(choices) - 1
		return app.Usage("unknown %s %q: %ss are %s and %s", flag, value, flag, strings.Join(choices[:last], ", "), choices[last])
	}
	return nil
}

// atLeast refuses a number that is too small for a flag.
func atLeast(flag string, value, least int) error {
	if value < least {
		return app.Usage("--%s %d: expected at least %d", flag, value, least)
	}
	return nil
}

// secondsFlag refuses a time that is none.
func secondsFlag(seconds float64) error {
	if !(seconds >= 0) {
		return app.Usage("--seconds %v: expected a number of seconds", seconds)
	}
	return nil
}

// threadsFlag refuses numbers of threads that the machine has no CPUs for.
func threadsFlag(numbers ...int) error {
	for _, n := range numbers {
		if n < 1 || n > runtime.NumCPU() {
			return app.Usage("--threads %d: expected a number from 1 to %d, the CPUs of this machine", n, runtime.NumCPU())
		}
	}
	return nil
}

// positive refuses a duration that is none.
func positive(flag string, d time.Duration) error {
	if d <= 0 {
		return app.Usage("--%s %v: expected a duration such as 30s", flag, d)
	}
	return nil
}

// reportFolder refuses a file as the folder of the report.
func reportFolder(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		return app.Usage("--report %s: expected a folder, it is a file", dir)
	}
	return nil
}

// reportIn is the folder for a report: the one that the user has named, or else the named one in the project, which no link
// may lead elsewhere.
func reportIn(p *opdef.Project, chosen, standard string) (string, error) {
	if chosen != "" {
		return chosen, nil
	}
	return filepath.Join(p.Dir, filepath.FromSlash(standard)), safefile.Inside(p.Dir, standard)
}

// suiteEnvironment finds the Python environment, and looks for what the suite itself needs there.
func (a commands) suiteEnvironment(ctx context.Context, python, dir string) (*pyenv.Env, error) {
	env, err := a.Environment(ctx, python, dir)
	if err != nil {
		return nil, err
	}
	return env, app.MachineError(env.Require("apache-tvm-ffi", "ml-dtypes", "numpy"))
}

// suiteError gives errors of the suite their exit code. It is no error that nothing had to run.
func (a commands) suiteError(err error) error {
	var exit *exec.ExitError
	switch {
	case errors.As(err, new(app.ExitError)): // it has one, and says what to do
		return err
	case errors.Is(err, conformance.ErrNotBuilt):
		return app.ExitError{Code: app.ExitMachine, Err: fmt.Errorf("%w\n  run: opcast build", err)}
	case errors.Is(err, conformance.ErrMissing):
		return app.ExitError{Code: app.ExitMachine, Err: err}
	case errors.Is(err, conformance.ErrUnknown), errors.Is(err, conformance.ErrUsage),
		errors.Is(err, conformance.ErrInput):
		return app.ExitError{Code: app.ExitUsage, Err: err}
	case errors.Is(err, conformance.ErrUnwritten): // also of an interrupted run
		return app.ExitError{Code: app.ExitMachine, Err: err}
	case errors.Is(err, conformance.ErrInterrupted):
		return app.ExitError{Code: app.ExitFindings} // the summary says so
	case errors.As(err, &exit):
		return app.ExitError{Code: exit.ExitCode(), Err: err} // of a job
	case errors.Is(err, conformance.ErrNothing):
		_, err = fmt.Fprintln(a.Stdout, err)
	}
	return err
}

// target reads the name of a Python function, which the suite takes as MODULE:FUNCTION or FILE.py:FUNCTION. People may
// also write MODULE.FUNCTION, as Python does.
func target(text string) (string, bool) {
	if strings.Contains(text, ":") {
		return text, true
	}
	at := strings.LastIndex(text, ".")
	if at <= 0 {
		return "", false
	}
	return text[:at] + ":" + text[at+1:], true
}

// terminal reports whether lines that were written to w can be redrawn.
func terminal(w io.Writer) bool {
	f, ok := diag.Raw(w).(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" && os.Getenv("CI") == ""
}
