package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/ship/matrix"
	"github.com/opcast/opcast/internal/system/safefile"
)

// matrixFlags are the choices of the command line.
type matrixFlags struct {
	python, profile, report, markdown string
	wheels                            string
	environments                      []string
	jobs                              int
	noBuild                           bool
}

const matrixLong = `Run "opcast test" in throw-away Python environments: one each with the oldest and the newest supported versions of every
framework, and one for every Python of this machine. They take gigabytes while they are needed.

The library is built once, and all environments load it. With --wheels, nothing is built: the wheels in a folder are installed into
the environments, and tested there. The reports go to build/matrix/report.`

func newMatrixCmd(a commands) *cobra.Command {
	var flags matrixFlags
	cmd := &cobra.Command{
		Use:   "matrix [OP...]",
		Short: "Test with the oldest and the newest supported versions, and with every Python of this machine",
		Long:  matrixLong,
		RunE:  func(cmd *cobra.Command, ops []string) error { return a.matrix(cmd.Context(), ops, &flags) },
	}
	app.PythonFlag(cmd, &flags.python)
	cmd.Flags().StringArrayVar(&flags.environments, "environment", nil, `test only in this environment, such as "torch oldest"`)
	profileFlag(cmd, &flags.profile)
	jobsFlag(cmd, &flags.jobs)
	reportFlag(cmd, &flags.report, "build/matrix/report")
	noBuildFlag(cmd, &flags.noBuild)
	cmd.Flags().StringVar(&flags.wheels, "wheels", "", "install and test the wheels in this folder, as opcast wheel wrote them")
	markdownFlag(cmd, &flags.markdown, "write the table into this page, between the lines that are there for it")
	return cmd
}

// matrix runs the suite in every environment and writes one report of all.
func (a commands) matrix(ctx context.Context, ops []string, flags *matrixFlags) error {
	o, err := a.matrixOptions(ctx, ops, flags)
	if err != nil {
		return err
	}
	if a.Self == "" {
		return errNoSelf
	}
	outcome, err := matrix.Run(ctx, o)
	if errors.Is(err, matrix.ErrUnknown) || errors.Is(err, matrix.ErrWheels) {
		return app.ExitError{Code: app.ExitUsage, Err: err}
	}
	if err != nil {
		return err
	}
	if err := outcome.Report.WriteFiles(cmp.Or(flags.report, filepath.Join(o.Dir, "report"))); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.Stdout, "\n%s", matrix.Markdown(outcome.Report)); err != nil {
		return err
	}
	if text := outcome.Report.InterruptionText(); text != "" { // the table in the page stays as it is
		_, err := fmt.Fprintln(a.Stdout, text)
		return errors.Join(err, app.ExitError{Code: app.ExitFindings})
	}
	if flags.markdown != "" {
		if err := matrix.Write(flags.markdown, outcome.Report); err != nil {
			return err
		}
	}
	if outcome.Broken {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}

// matrixOptions looks for what a matrix needs: a built library, a program that makes environments, and this one again.
func (a commands) matrixOptions(ctx context.Context, ops []string, flags *matrixFlags) (o matrix.Options, err error) {
	err = cmp.Or(oneOf("profile", flags.profile, "fast", "core", "extended"), atLeast("jobs", flags.jobs, 1), reportFolder(flags.report))
	if err != nil {
		return o, err
	}
	p, err := a.Load()
	if err != nil {
		return o, err
	}
	for _, name := range ops {
		if _, err := app.FindOp(p, name); err != nil {
			return o, err
		}
	}
	env, err := a.Environment(ctx, flags.python, p.Dir)
	if err != nil {
		return o, err
	}
	source, err := a.tested(ctx, p, env, flags)
	if err != nil {
		return o, err
	}
	uv, err := findUV(env)
	if err != nil {
		return o, app.MachineError(err)
	}
	if err := safefile.Inside(p.Dir, "build/matrix"); err != nil {
		return o, err
	}
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return o, fmt.Errorf("find the project: %w", err)
	}
	return matrix.Options{
		Project: p, UV: uv, Profile: flags.profile, Names: flags.environments, Ops: ops,
		Pythons: matrix.Interpreters(ctx, os.Getenv),
		Test:    []string{a.Self, "test", source, "-C", dir, "--profile", flags.profile, "--jobs", strconv.Itoa(flags.jobs)},
		Wheels:  flags.wheels,
		Dir:     filepath.Join(dir, "build", "matrix"), Out: a.Stdout, Environ: os.Environ(),
	}, nil
}

// tested brings what the environments will have up to date, and returns the flag that says to `opcast test` where it is.
func (a commands) tested(ctx context.Context, p *opdef.Project, env *pyenv.Env, flags *matrixFlags) (flag string, err error) {
	if flags.wheels == "" {
		return "--no-build", a.current(ctx, p, env, flags.noBuild, "cpu")
	}
	if flags.wheels, err = filepath.Abs(flags.wheels); err != nil {
		return "", fmt.Errorf("find the wheels: %w", err)
	}
	return "--installed", nil
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
