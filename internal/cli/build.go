package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/pyenv"
)

func newBuildCmd(a *app) *cobra.Command {
	var python string
	var debug, verbose bool
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Generate, compile and link the collection into a Python environment",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.build(cmd.Context(), python, build.Options{Debug: debug, Verbose: verbose})
		},
	}
	pythonFlag(cmd, &python)
	cmd.Flags().BoolVar(&debug, "debug", false, "build without optimisation, with debug information")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show the compiler's command lines")
	return cmd
}

// pythonFlag adds the flag with which every command takes its Python environment.
func pythonFlag(cmd *cobra.Command, python *string) {
	cmd.Flags().StringVar(python, "python", "", "interpreter or environment (default: the active one, else .venv)")
}

// environment finds the Python environment to work in.
func (a *app) environment(ctx context.Context, python, dir string) (*pyenv.Env, error) {
	env, err := pyenv.Find(ctx, pyenv.Query{Python: python, Dir: dir, Getenv: os.Getenv})
	return env, machineError(err)
}

// machineError gives errors about what the machine lacks their exit code.
func machineError(err error) error {
	if missing := (*pyenv.MissingError)(nil); errors.As(err, &missing) {
		return ExitError{Code: exitMachine, Err: err}
	}
	return err
}

// build brings generated files and libraries up to date; o holds the choices of the command line.
func (a *app) build(ctx context.Context, python string, o build.Options) error {
	project, err := a.load()
	if err != nil {
		return err
	}
	if o.Env, err = a.environment(ctx, python, project.Dir); err != nil {
		return err
	}
	if _, err := a.generate(project); err != nil {
		return err
	}
	o.Project, o.Runtime, o.Getenv, o.Log = project, backend.FS, os.Getenv, a.stderr
	result, findings, err := build.Run(ctx, o)
	if err != nil {
		return machineError(err)
	}
	if err := a.findings(findings); err != nil {
		return err
	}
	for _, note := range result.Notes {
		if _, err := fmt.Fprintln(a.stderr, "note:", note); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.stdout, "built %s (%s, SHA-256 %s)\ntry: %s\n", result.Library,
		count(len(project.Ops), "op"), result.SHA256, result.Import)
	return err
}
