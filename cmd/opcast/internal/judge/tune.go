package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/bench"
	"github.com/opcast/opcast/internal/system/safefile"
)

// tuneFlags are the choices of the command line.
type tuneFlags struct {
	python, device string
	sweeps         []string
	threads        int
	rounds         int
	seconds        float64
	noBuild        bool
}

const tuneLong = `Build, and measure which parameters of kernels are best for the workloads of the definitions.

The result is a file for the architecture of this machine, such as tune/avx2.json: review it, and commit it. opcast gen compiles
it into the library, where a call takes the parameters of the measured call that is nearest. Rows of ops that are not measured
now stay.`

func newTuneCmd(a commands) *cobra.Command {
	var flags tuneFlags
	cmd := &cobra.Command{
		Use:   "tune [OP...]",
		Short: "Build, and measure which parameters of kernels are best",
		Long:  tuneLong,
		RunE:  func(cmd *cobra.Command, ops []string) error { return a.tune(cmd.Context(), ops, &flags) },
	}
	app.PythonFlag(cmd, &flags.python)
	testDeviceFlag(cmd, &flags.device)
	noBuildFlag(cmd, &flags.noBuild)
	set := cmd.Flags()
	set.StringArrayVar(&flags.sweeps, "sweep", nil, "measure workloads with these values of a size: N=64:4096 doubles, N=1,100 lists")
	set.IntVar(&flags.threads, "threads", runtime.NumCPU(), "measure with this number of threads")
	set.IntVar(&flags.rounds, "rounds", 20, "take at most this many samples of every choice")
	set.Float64Var(&flags.seconds, "seconds", 3, "begin no further round of a workload after this time; at least three are made")
	return cmd
}

// check refuses values that no flag can have.
func (f *tuneFlags) check() error {
	return cmp.Or(oneOf("device", f.device, testDevices...), atLeast("rounds", f.rounds, 1), secondsFlag(f.seconds), threadsFlag(f.threads))
}

// tune measures, writes the file, and tells what is in it.
func (a commands) tune(ctx context.Context, names []string, flags *tuneFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	ops, err := tunable(p, names, flags)
	if err != nil {
		return err
	}
	env, err := a.suiteEnvironment(ctx, flags.python, p.Dir)
	if err != nil {
		return err
	}
	if err := a.current(ctx, p, env, flags.noBuild, flags.device); err != nil {
		return err
	}
	result, err := conformance.Tune(ctx, conformance.BenchOptions{
		Project: p, Ops: ops, Adaptors: p.Manifest.Adaptors, Device: flags.device, Threads: []int{flags.threads}, Python: env.Python,
		Rounds: flags.rounds, Seconds: flags.seconds, Environ: os.Environ(), Progress: a.Stderr,
	})
	if errors.Is(err, conformance.ErrNoTiming) {
		return app.ExitError{Code: app.ExitMachine, Err: err}
	}
	if err != nil {
		return err
	}
	return a.tuned(p, result)
}

// tunable are the ops of the names, or all, that have a kernel with parameters for the device.
func tunable(p *opdef.Project, names []string, flags *tuneFlags) ([]*opdef.Op, error) {
	device := flags.device
	ops, err := chosen(p, names, flags.sweeps)
	if err != nil {
		return nil, err
	}
	without := func(op *opdef.Op) bool {
		return !slices.ContainsFunc(op.Kernels, func(k opdef.Kernel) bool {
			return len(k.Params) > 0 && k.On(conformance.KindOf(device))
		})
	}
	if i := slices.IndexFunc(ops, without); len(names) > 0 && i >= 0 {
		return nil, app.Usage("%s: no kernel for %s has params", ops[i].Name, device)
	}
	ops = slices.DeleteFunc(slices.Clone(ops), without)
	if len(ops) == 0 {
		return nil, fmt.Errorf("nothing to measure: no kernel for %s has params", device)
	}
	return ops, nil
}

// tuned writes the rows into the file of the architecture, and prints them.
func (a commands) tuned(p *opdef.Project, result *conformance.TuneResult) error {
	for _, left := range result.LeftOut {
		fmt.Fprintf(a.Stdout, "left out: %v\n", left)
	}
	if len(result.Rows) == 0 {
		return errors.New("nothing was measured")
	}
	if err := a.tunedTable(result.Rows); err != nil {
		return err
	}
	file := result.Tuned
	for i := range p.Tuned {
		if p.Tuned[i].Arch == file.Arch {
			file.Add(p.Tuned[i].Fitting(p))
		}
	}
	text, err := file.Encode()
	if err != nil {
		return err
	}
	err = safefile.In(p.Dir, func(root *os.Root) error {
		if err := safefile.MkdirAll(root, opdef.TunedDir); err != nil {
			return err
		}
		_, err := safefile.Write(root, filepath.FromSlash(file.File()), text)
		return err
	})
	if err == nil {
		_, err = fmt.Fprintf(a.Stdout, "%s has %s. Review it; opcast gen brings it into the sources.\n", file.File(), app.Count(len(file.Rows), "row"))
	}
	if (&bench.Result{LeftOut: result.LeftOut}).Failed() {
		err = errors.Join(err, app.ExitError{Code: app.ExitFindings})
	}
	return err
}

// tunedTable prints what was best, and what that gains.
func (a commands) tunedTable(rows []opdef.TunedRow) error {
	table := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "op\tworkload\tbest\ttime\tgain")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.2f\n", r.Op, r.Workload, r.Name(), bench.Duration(r.TimeNS), r.DefaultNS/r.TimeNS)
	}
	return table.Flush()
}
