package judge

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
)

// compareFlags are the choices of the command line.
type compareFlags struct {
	python, device, report string
	seed                   uint64
	verbose, noBuild       bool
}

const compareLong = `Build, and compare ops of the collection with Python functions that do the same, in values and time.

Name an op, and after it the functions, each with the framework whose arrays it takes:

  opcast compare OP torch:old_ext.op
  opcast compare OP torch:old.py:op jax:ops.py:op OTHER_OP torch:old_ext.other_op

Both are called with the same arrays, and the float64 reference of the definition judges both. Only the op can fail:
what is wrong with a function is told and counted as skipped. The report goes to build/compare.`

func newCompareCmd(a commands) *cobra.Command {
	var flags compareFlags
	cmd := &cobra.Command{
		Use:   "compare OP ADAPTOR:FUNCTION... [OP ADAPTOR:FUNCTION...]...",
		Short: "Compare ops with existing Python functions, in values and time",
		Long:  compareLong,
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compare(cmd.Context(), args, &flags)
		},
	}
	app.PythonFlag(cmd, &flags.python)
	testDeviceFlag(cmd, &flags.device)
	seedFlag(cmd, &flags.seed)
	reportFlag(cmd, &flags.report, "build/compare")
	verboseFlag(cmd, &flags.verbose, "every result")
	noBuildFlag(cmd, &flags.noBuild)
	return cmd
}

func (a commands) compare(ctx context.Context, args []string, flags *compareFlags) error {
	functions, err := comparisons(args)
	if err = cmp.Or(err, oneOf("device", flags.device, testDevices...), reportFolder(flags.report)); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	env, err := a.suiteEnvironment(ctx, flags.python, p.Dir)
	if err != nil {
		return err
	}
	folder, err := reportIn(p, flags.report, "build/compare")
	if err != nil {
		return err
	}
	summary, err := conformance.Compare(ctx, conformance.CompareOptions{
		Project: p, Python: env.Python, Functions: functions, Device: flags.device, Seed: flags.seed,
		Build: func(ctx context.Context) error {
			return a.current(ctx, p, env, flags.noBuild, flags.device)
		},
		Out: a.Stdout, Verbose: flags.verbose, ReportDir: folder,
	})
	if err != nil {
		return a.suiteError(err)
	}
	if !summary.OK() {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}

// comparisons reads ops, each followed by the functions that it is compared with. The name of an op has no colon.
func comparisons(words []string) ([]conformance.Callable, error) {
	var out []conformance.Callable
	op, compared := "", true
	for _, word := range words {
		adaptor, function, isFunction := strings.Cut(word, ":")
		if !isFunction {
			if !compared {
				break
			}
			op, compared = word, false
			continue
		}
		function, ok := target(function)
		if adaptor == "" || !ok {
			return nil, app.Usage("%q names no function: expected ADAPTOR:MODULE.FUNCTION or ADAPTOR:FILE.py:FUNCTION", word)
		}
		if op == "" {
			return nil, app.Usage("%q follows no op: expected OP ADAPTOR:FUNCTION", word)
		}
		out, compared = append(out, conformance.Callable{Adaptor: adaptor, Op: op, Target: function}), true
	}
	if !compared {
		return nil, app.Usage("op %q has nothing to be compared with: expected ADAPTOR:FUNCTION after it", op)
	}
	return out, nil
}
