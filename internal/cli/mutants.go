package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
)

// plantedFlags are the choices of a run with planted faults.
type plantedFlags struct {
	on       bool
	only     []string
	markdown string
}

func (f *plantedFlags) flags(cmd *cobra.Command) {
	set := cmd.Flags()
	set.BoolVar(&f.on, "mutants", false,
		"plant faults into a copy of the collection, one at a time, and say which of them are noticed")
	set.StringSliceVar(&f.only, "mutant", nil, "with --mutants: only those with this text in their names")
	set.StringVar(&f.markdown, "markdown", "",
		"with --mutants: write the table to this file; with --matrix: into it, between the lines that are there for it")
}

// testMutants plants faults into a copy of the project and says which of them the suite notices.
func (a *app) testMutants(ctx context.Context, env *pyenv.Env, o conformance.Options, flags *plantedFlags) error {
	o.ReportDir = filepath.Join(o.Project.Dir, "build", "mutants")
	_, err := conformance.RunMutants(ctx, conformance.MutationOptions{
		Options: o, Mutants: flags.only, Markdown: flags.markdown,
		Build: func(ctx context.Context, dir string) error { return a.buildCopy(ctx, env, o.Project.Dir, dir) },
	})
	if errors.Is(err, conformance.ErrSurvived) {
		return ExitError{Code: exitFindings, Err: err}
	}
	return a.ended(err)
}

// buildCopy compiles a copy of the project in a folder, as it is.
func (a *app) buildCopy(ctx context.Context, env *pyenv.Env, origin, dir string) error {
	project, findings, err := opdef.Load(dir)
	if err != nil {
		return err
	}
	if err := a.findings(findings); err != nil {
		return err
	}
	_, findings, err = build.Run(ctx, build.Options{
		Project: project, Env: env, Runtime: backend.FS, Getenv: os.Getenv, Log: a.stderr, Quiet: true, CopyOf: origin,
	})
	if err != nil {
		return machineError(err)
	}
	return a.findings(findings)
}
