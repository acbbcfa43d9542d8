package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/opdef"
)

// testFlags are the choices of the command line.
type testFlags struct {
	python, device string
	adaptors       []string
	random         int
	verbose        bool
}

func newTestCmd(a *app) *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test [OP...]",
		Short: "Prove the built collection: every op through every adaptor",
		Long: `Prove the built collection: every op through every adaptor.

The checks are made from the definitions; the float64 reference of each op is the judge. The folder build/report gets
report.json, junit.xml, index.html and, for each failure, a script that repeats it.`,
		RunE: func(cmd *cobra.Command, ops []string) error { return a.test(cmd.Context(), ops, flags) },
	}
	pythonFlag(cmd, &flags.python)
	cmd.Flags().StringSliceVar(&flags.adaptors, "adaptor", nil,
		"only these adaptors; \"backend\" is the bare library, \"native\" the same from Go, \"op_call\" any op by its number")
	cmd.Flags().StringVar(&flags.device, "device", "cpu", "where the arrays are: cpu or cuda")
	cmd.Flags().IntVar(&flags.random, "random", 0, "random calls of each op from Go (default a few hundred)")
	cmd.Flags().BoolVarP(&flags.verbose, "verbose", "v", false, "show every check")
	return cmd
}

func (a *app) test(ctx context.Context, ops []string, flags testFlags) error {
	p, err := a.load()
	if err != nil {
		return err
	}
	env, err := a.environment(ctx, flags.python, p.Dir)
	if err != nil {
		return err
	}
	if err := env.Require("apache-tvm-ffi", "ml-dtypes", "numpy"); err != nil {
		return machineError(err)
	}
	if flags.device != "cpu" && flags.device != "cuda" {
		return ExitError{Code: exitUsage, Err: fmt.Errorf("unknown device %q: devices are cpu and cuda", flags.device)}
	}
	native, err := nativeCommand()
	if err != nil {
		return err
	}
	summary, err := conformance.Run(ctx, conformance.Options{
		Project: p, Python: env.Python, Ops: ops, Adaptors: flags.adaptors, Out: a.stdout, Verbose: flags.verbose,
		Device: flags.device, Random: flags.random, Native: native,
		ReportDir: filepath.Join(p.Dir, "build", "report"),
		Stale:     func(context.Context) ([]string, error) { return a.stale(p) },
	})
	switch {
	case errors.Is(err, conformance.ErrNotBuilt):
		return ExitError{Code: exitMachine, Err: fmt.Errorf("%w\n  run: opcast build", err)}
	case errors.Is(err, conformance.ErrMissing):
		return ExitError{Code: exitMachine, Err: err}
	case errors.Is(err, conformance.ErrUnknown):
		return ExitError{Code: exitUsage, Err: err}
	case err != nil:
		return err
	case !summary.OK():
		return ExitError{Code: exitFindings}
	}
	return nil
}

// nativeCaller is the hidden command under which the suite starts this program to call a library from Go.
const nativeCaller = "native-caller"

// nativeCommand starts this program as that caller. A program of tests that has this command line inside has no such
// command, and would run its tests instead.
func nativeCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if strings.HasSuffix(self, ".test") {
		return nil, nil
	}
	return []string{self, nativeCaller}, nil
}

func newNativeCallerCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: nativeCaller + " CONFIG", Short: "Serve calls of a library for the conformance suite", Hidden: true,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return conformance.ServeNative(args[0], a.stdin, a.stdout)
		},
	}
}

// Stale lists the generated files that are not what the definitions give.
func Stale(p *opdef.Project) ([]string, error) { return (&app{stderr: io.Discard}).stale(p) }

func (a *app) stale(p *opdef.Project) ([]string, error) {
	changes, err := a.compare(p)
	if err != nil {
		return nil, err
	}
	files := changes.Remove
	for _, f := range changes.Write {
		files = append(files, f.Path)
	}
	return files, changes.Close()
}
