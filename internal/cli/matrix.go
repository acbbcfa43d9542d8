package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/matrix"
	"github.com/opcast/opcast/internal/pyenv"
)

// matrixFlags are the choices of a run in many environments.
type matrixFlags struct {
	on           bool
	environments []string
}

func (f *matrixFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.BoolVar(&f.on, "matrix", false,
		"test in throw-away environments: oldest and newest supported versions, every Python; they take gigabytes")
	set.StringArrayVar(&f.environments, "environment", nil, "with --matrix: only this environment, as \"torch oldest\"")
}

// alone are flags that have no meaning for a matrix: an environment says who is tested in it, with what was built.
var alone = []string{
	"adaptor", "against", "callable", "device", "known", "last-failed", "library", "mutants", "only", "opdefs", "random",
	"random-total", "seed", "shard",
}

// usage refuses flags that do not go together.
func (f *matrixFlags) usage(cmd *cobra.Command) error {
	if !f.on && len(f.environments) > 0 {
		return ExitError{Code: exitUsage, Err: errors.New("--environment needs --matrix")}
	}
	for _, name := range alone {
		if f.on && cmd.Flags().Changed(name) {
			return ExitError{Code: exitUsage, Err: fmt.Errorf("--matrix and --%s do not go together", name)}
		}
	}
	return nil
}

// matrix runs the suite in every environment, and keeps a report of all.
func (a *app) matrix(ctx context.Context, ops []string, flags *testFlags) error {
	o, err := a.matrixOptions(ctx, ops, flags)
	if err != nil {
		return err
	}
	outcome, err := matrix.Run(ctx, o)
	if errors.Is(err, matrix.ErrUnknown) {
		return ExitError{Code: exitUsage, Err: err}
	}
	if err != nil {
		return err
	}
	dir := flags.report
	if dir == "" {
		dir = filepath.Join(o.Dir, "report")
	}
	if err := outcome.Report.WriteFiles(dir); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.stdout, "\n%s", matrix.Markdown(outcome.Report)); err != nil {
		return err
	}
	if flags.planted.markdown != "" {
		if err := matrix.Write(flags.planted.markdown, outcome.Report); err != nil {
			return err
		}
	}
	if outcome.Broken {
		return ExitError{Code: exitFindings}
	}
	return nil
}

// matrixOptions looks for what a matrix needs: a built library, a program that makes environments, and this one again.
func (a *app) matrixOptions(ctx context.Context, ops []string, flags *testFlags) (o matrix.Options, err error) {
	p, err := a.load()
	if err != nil {
		return o, err
	}
	for _, name := range ops {
		if _, err := findOp(p, name); err != nil {
			return o, err
		}
	}
	if _, err := os.Stat(conformance.LibraryPath(p)); err != nil {
		return o, a.ended(fmt.Errorf("%w: %s", conformance.ErrNotBuilt, conformance.LibraryPath(p)))
	}
	env, err := a.environment(ctx, flags.python, p.Dir)
	if err != nil {
		return o, err
	}
	uv, err := findUV(env)
	if err != nil {
		return o, machineError(err)
	}
	self, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("find this program: %w", err)
	}
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return o, fmt.Errorf("find the project: %w", err)
	}
	return matrix.Options{
		Project: p, UV: uv, Profile: flags.profile, Names: flags.matrix.environments, Ops: ops,
		Pythons: matrix.Interpreters(ctx, os.Getenv),
		Test:    []string{self, "test", "-C", dir, "--profile", flags.profile, "--jobs", strconv.Itoa(flags.jobs)},
		Dir:     filepath.Join(dir, "build", "matrix"), Out: a.stdout, Environ: os.Environ(),
	}, nil
}

// findUV looks for the program that makes environments beside the interpreter, then on the path.
func findUV(env *pyenv.Env) (string, error) {
	if beside, err := exec.LookPath(filepath.Join(filepath.Dir(env.Python), "uv")); err == nil {
		return beside, nil
	}
	found, err := exec.LookPath("uv")
	if err != nil {
		return "", &pyenv.MissingError{
			Text:    "no program uv, which makes the environments, beside " + env.Python + " or on the path",
			Command: env.InstallCommand("uv"),
		}
	}
	return found, nil
}
