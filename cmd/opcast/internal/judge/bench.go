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
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/bench"
)

// benchSuites are what can be measured.
var benchSuites = []string{conformance.BenchWorkloads, conformance.BenchCalls, costSuite}

// benchFlags are the choices of the command line.
type benchFlags struct {
	python, device, report    string
	json, compare, markdown   string
	budgets                   string
	adaptors, suites, sweeps  []string
	threads                   []int
	rounds                    int
	seconds                   float64
	noBuild, adaptorsAreAsked bool
	resume, rehearse          bool
}

const benchLong = `Build, and measure the workloads of the definitions through the adaptors that are installed.

What an op is measured beside, its author says: peers(framework) in the file OP.py beside the definition returns functions by
name. Ops, peers and a copy through memory take turns. The folder build/bench gets bench.json and the page index.html.

--suite calls measures what a call of tiny arrays costs beside the bare call of tvm-ffi, and counts what Python runs in it;
--suite cost what the collection costs its author: seconds of builds and of imports.

With --budgets, the arguments are results: they are put together, and held against the budgets of a file.

With --compare, the exit code is 1 if a row has become slower than in an older bench.json, beside the copy and beside peers.`

func newBenchCmd(a commands) *cobra.Command {
	var flags benchFlags
	cmd := &cobra.Command{
		Use:   "bench [OP...]",
		Short: "Build, and measure workloads beside the peers that definitions name",
		Long:  benchLong,
		RunE: func(cmd *cobra.Command, ops []string) error {
			if flags.budgets != "" {
				return a.judge(ops, &flags)
			}
			flags.adaptorsAreAsked = cmd.Flags().Changed("adaptor")
			return a.bench(cmd.Context(), ops, &flags)
		},
	}
	app.PythonFlag(cmd, &flags.python)
	testDeviceFlag(cmd, &flags.device)
	noBuildFlag(cmd, &flags.noBuild)
	set := cmd.Flags()
	set.StringSliceVar(&flags.suites, "suite", []string{conformance.BenchWorkloads}, "measure these: "+strings.Join(benchSuites, ", "))
	set.StringArrayVar(&flags.sweeps, "sweep", nil, "measure workloads with these values of a size: N=64:4096 doubles, N=1,100 lists")
	set.StringVar(&flags.budgets, "budgets", "", "measure nothing: hold results, which are the arguments, against the budgets of this file")
	set.StringSliceVar(&flags.adaptors, "adaptor", nil, "call the ops only through these adaptors")
	set.IntSliceVar(&flags.threads, "threads", nil, "measure with these numbers of threads, each in processes of its own (default 1 and all CPUs)")
	set.IntVar(&flags.rounds, "rounds", 20, "take at most this many samples of everything")
	set.Float64Var(&flags.seconds, "seconds", 1, "begin no further round of a row after this time; at least three are made")
	reportFlag(cmd, &flags.report, "build/bench")
	set.BoolVar(&flags.resume, "resume", false, "keep the rows of the result that is there, and write each new one at once: for runs that may be cut short")
	set.BoolVar(&flags.rehearse, "rehearse", false, "run small arrays on the CPU through all steps of a measurement on a GPU; the times mean nothing")
	set.StringVar(&flags.json, "json", "", "write the result into this file, too")
	set.StringVar(&flags.compare, "compare", "", "say which rows are slower than in this older result")
	markdownFlag(cmd, &flags.markdown, "write the table into this page, between the lines that are there for it")
	return cmd
}

// check refuses values that no flag can have.
func (f *benchFlags) check() error {
	err := cmp.Or(oneOf("device", f.device, testDevices...), atLeast("rounds", f.rounds, 1), reportFolder(f.report), secondsFlag(f.seconds))
	for _, suite := range f.suites {
		err = cmp.Or(err, oneOf("suite", suite, benchSuites...))
	}
	if f.threads == nil {
		f.threads = []int{1, runtime.NumCPU()}
	}
	err = cmp.Or(err, threadsFlag(f.threads...))
	slices.Sort(f.threads)
	f.threads = slices.Compact(f.threads)
	if f.device != "cpu" || f.rehearse {
		f.threads = f.threads[:1] // those of the host matter little there
	}
	return err
}

// bench measures and tells.
func (a commands) bench(ctx context.Context, names []string, flags *benchFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	old, err := flags.older()
	if err != nil {
		return err
	}
	o, env, err := a.benchOptions(ctx, names, flags)
	if err != nil {
		return err
	}
	folder, err := reportIn(o.Project, flags.report, "build/bench")
	if err != nil {
		return err
	}
	if err := flags.resumed(&o, folder); err != nil {
		return err
	}
	result, err := conformance.Bench(ctx, o)
	if err == nil && old != nil {
		err = confirmed(ctx, o, result, old)
	}
	if err == nil && slices.Contains(flags.suites, costSuite) {
		var figures []bench.Figure
		figures, err = a.costs(ctx, o, env)
		result.Figures = append(result.Figures, figures...)
	}
	if errors.Is(err, conformance.ErrNoTiming) {
		return app.ExitError{Code: app.ExitMachine, Err: err}
	}
	if err != nil && result != nil { // what there is may be of use, and is no result to keep or to compare
		return errors.Join(err, result.WriteTable(a.Stdout))
	}
	if err != nil {
		return err
	}
	return a.benchTold(result, old, folder, flags)
}

// resumed has the run keep the rows that an earlier one has written into the folder, and write its own one by one.
func (f *benchFlags) resumed(o *conformance.BenchOptions, folder string) error {
	if !f.resume {
		return nil
	}
	path := filepath.Join(folder, bench.File)
	before, err := bench.Read(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("--resume: %w", err)}
	}
	if here := conformance.Machine(o.Device); before != nil && before.Machine != here {
		return app.Usage("--resume: %s was measured on %s, this is %s", path, before.Machine.Hardware(), here.Hardware())
	}
	o.Before = before
	o.Keep = func(r *bench.Result) error {
		if err := r.WriteFiles(folder, bench.Told{}); err != nil {
			return err
		}
		return f.write(r, nil)
	}
	return nil
}

// confirmed measures the ops again that have become slower, so that only what is slower twice is told.
func confirmed(ctx context.Context, o conformance.BenchOptions, result, old *bench.Result) error {
	slower := map[string]bool{}
	compared := result.Since(old)
	for _, change := range compared.Worse() {
		slower[change.Op] = true
	}
	for _, change := range compared.WorseFigures() {
		slower[change.After.Op()] = true
	}
	delete(slower, "") // of what no op decides
	if len(slower) == 0 {
		return nil
	}
	o.Ops = slices.DeleteFunc(slices.Clone(o.Ops), func(op *opdef.Op) bool { return !slower[op.Name] })
	again, err := conformance.Bench(ctx, o)
	if err == nil {
		result.Confirm(again, old)
	}
	return err
}

// older reads the result to compare with, before it may be written over.
func (f *benchFlags) older() (*bench.Result, error) {
	if f.compare == "" {
		return nil, nil
	}
	old, err := bench.Read(f.compare)
	if err != nil {
		return nil, app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("--compare: %w", err)}
	}
	return old, nil
}

// benchTold prints and writes what was measured. The exit code says whether an op failed, or has become slower.
func (a commands) benchTold(result, old *bench.Result, folder string, flags *benchFlags) error {
	if err := result.WriteTable(a.Stdout); err != nil {
		return err
	}
	if len(result.Rows) == 0 && len(result.Figures) == 0 {
		return errors.New("nothing was measured")
	}
	var compared *bench.Comparison
	if old != nil {
		compared = result.Since(old)
	}
	if err := result.WriteFiles(folder, bench.Told{Compared: compared}); err != nil {
		return err
	}
	if err := flags.write(result, nil); err != nil {
		return err
	}
	worse := 0
	if compared != nil {
		worse = len(compared.Lines())
		if err := a.printComparison(compared); err != nil {
			return err
		}
	}
	if worse > 0 || result.Failed() {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}

// write writes the files that the flags name.
func (f *benchFlags) write(result *bench.Result, judged []bench.Judgement) error {
	if f.json != "" {
		text, err := result.JSON()
		if err != nil {
			return err
		}
		if err := os.WriteFile(f.json, text, 0o644); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
	if f.markdown == "" {
		return nil
	}
	err := result.WriteMarkdown(f.markdown, judged)
	if errors.Is(err, bench.ErrNoPlace) {
		return app.ExitError{Code: app.ExitUsage, Err: err}
	}
	return err
}

// printComparison says what has become slower.
func (a commands) printComparison(c *bench.Comparison) error {
	var lines []string
	if c.OtherMachine {
		lines = append(lines, "note: the older result comes from another machine")
	}
	if len(c.Changes)+len(c.Figures) == 0 {
		lines = append(lines, "note: the older result has nothing that was measured now")
	}
	for _, key := range c.Gone {
		lines = append(lines, fmt.Sprintf("gone: %v", key))
	}
	for _, change := range c.Worse() {
		lines = append(lines, fmt.Sprintf("slower: %v", change))
	}
	if len(c.Changes) > 0 || len(c.Figures) == 0 {
		lines = append(lines, fmt.Sprintf("%s compared, %d slower", app.Count(len(c.Changes), "row"), len(c.Worse())))
	}
	for _, figure := range c.WorseFigures() {
		lines = append(lines, fmt.Sprintf("worse: %v", figure))
	}
	if len(c.Figures) > 0 {
		lines = append(lines, fmt.Sprintf("%s compared, %d worse", app.Count(len(c.Figures), "figure"), len(c.WorseFigures())))
	}
	_, err := fmt.Fprintln(a.Stdout, strings.Join(lines, "\n"))
	return err
}
