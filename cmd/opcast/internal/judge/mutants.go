package judge

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// mutantsFlags are the choices of the command line.
type mutantsFlags struct {
	python, markdown   string
	adaptors, selected []string
	seed               uint64
	verbose, noBuild   bool
}

const mutantsLong = `Plant small errors into a copy of the collection, one at a time, and say which of them the suite notices.

A copy with one planted error is called a mutant. The checks of its op run on the host until one fails. A mutant that no
check notices is a gap in the suite: the command lists it and ends with exit code 1. The report goes to build/mutants.`

func newMutantsCmd(a commands) *cobra.Command {
	var flags mutantsFlags
	cmd := &cobra.Command{
		Use:   "mutants [OP...]",
		Short: "Plant small errors into a copy of the collection, and say which of them the suite notices",
		Long:  mutantsLong,
		RunE:  func(cmd *cobra.Command, ops []string) error { return a.mutants(cmd.Context(), ops, &flags) },
	}
	app.PythonFlag(cmd, &flags.python)
	cmd.Flags().StringSliceVar(&flags.adaptors, "adaptor", nil,
		`plant errors only into the packages of these adaptors; "backend" stands for the library`)
	cmd.Flags().StringSliceVar(&flags.selected, "mutant", nil, "plant only the mutants with one of these texts in their names")
	markdownFlag(cmd, &flags.markdown, "write the table of all mutants to this page, below the line that is there for it")
	seedFlag(cmd, &flags.seed)
	verboseFlag(cmd, &flags.verbose, "every mutant")
	noBuildFlag(cmd, &flags.noBuild)
	return cmd
}

func (a commands) mutants(ctx context.Context, ops []string, flags *mutantsFlags) error {
	p, err := a.Load()
	if err != nil {
		return err
	}
	env, err := a.suiteEnvironment(ctx, flags.python, p.Dir)
	if err != nil {
		return err
	}
	folder, err := reportIn(p, "", "build/mutants")
	if err != nil {
		return err
	}
	_, err = conformance.Mutants(ctx, conformance.MutantOptions{
		Project: p, Python: env.Python, Native: a.nativeCommand(), Ops: ops, Adaptors: flags.adaptors, Seed: flags.seed,
		Mutants: flags.selected, Out: a.Stdout, Verbose: flags.verbose,
		ReportDir: folder, Markdown: flags.markdown,
		Prepare: func(ctx context.Context) error { return a.current(ctx, p, env, flags.noBuild, "cpu") },
		Build: func(ctx context.Context, dir string, emulated bool) error {
			if emulated {
				return a.buildCopy(ctx, env, dir, a.Stderr, build.Emulated)
			}
			return a.buildCopy(ctx, env, dir, a.Stderr, host(p)...)
		},
		Driver: func(dir string) string { return build.DriverIn(dir, build.Emulated) },
	})
	if errors.Is(err, conformance.ErrSurvived) {
		return app.ExitError{Code: app.ExitFindings, Err: err}
	}
	return a.suiteError(err)
}

// host are the devices to build for if all calls are on the host; none for a collection whose kernels are for GPUs alone.
func host(p *opdef.Project) []string {
	if slices.Contains(p.Manifest.Devices, "cpu") {
		return []string{"cpu"}
	}
	return nil
}

// buildCopy compiles a copy of the project in a folder, as it is, for the given devices or for all, and links it into no
// environment.
func (a commands) buildCopy(ctx context.Context, env *pyenv.Env, dir string, log io.Writer, devices ...string) error {
	project, findings, err := load.Load(dir)
	if err != nil {
		return err
	}
	if err := a.Findings(findings); err != nil {
		return err
	}
	_, findings, err = build.Run(ctx, build.Options{
		Project: project, Env: env, Runtime: backend.FS, Devices: devices, Getenv: os.Getenv, Log: log, Unlinked: true,
		Objects: build.ObjectsOf(os.Getenv),
	})
	if err != nil {
		return app.MachineError(err)
	}
	return a.Findings(findings)
}
