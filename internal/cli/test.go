package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
)

// testFlags are the choices of the command line.
type testFlags struct {
	python, device, profile, report string
	opdefs, library                 string
	known, only, shard, job         string
	adaptors, callables, against    []string
	random, randomTotal, jobs       int
	seed                            uint64
	verbose, lastFailed             bool
	planted                         plantedFlags
	matrix                          matrixFlags
}

const testLong = `Prove the built collection: every op through every adaptor.

The checks are made from the definitions; the float64 reference of each op is the judge. The folder build/report gets
report.json, junit.xml, index.html and, for each failure, a script that repeats it.

Other people's ops are tested by the definitions in a folder: a library that was made by hand, or functions in Python.

  opcast test --library libtheirs.so --opdefs DIR
  opcast test --opdefs DIR --callable torch:OP=vendor.ops:function --callable jax:OP=ops.py:function

Compare an op with a kernel that exists already, in values and time:

  opcast test OP --against torch:old_ext.op`

func newTestCmd(a *app) *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test [OP...]",
		Short: "Prove the built collection: every op through every adaptor",
		Long:  testLong,
		RunE:  func(cmd *cobra.Command, ops []string) error { return a.test(cmd, ops, &flags) },
	}
	pythonFlag(cmd, &flags.python)
	flags.choices(cmd)
	flags.others(cmd)
	flags.planted.flags(cmd)
	flags.matrix.add(cmd)
	return cmd
}

// choices are the flags about what runs and how.
func (f *testFlags) choices(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringSliceVar(&f.adaptors, "adaptor", nil,
		"only these adaptors; \"backend\" is the bare library, \"native\" the same from Go, \"op_call\" any op by its number")
	set.StringVar(&f.device, "device", "cpu", "where the arrays are: cpu or cuda")
	set.StringVar(&f.profile, "profile", "core", "core, or extended: checks that need minutes or much memory, too")
	set.StringVar(&f.only, "only", "", "file with lines \"op adaptor check\": only these checks; * stands for all")
	set.BoolVar(&f.lastFailed, "last-failed", false, "only what failed in the last run")
	set.StringVar(&f.shard, "shard", "", "\"i/n\": the i-th of n parts of the run")
	set.IntVar(&f.jobs, "jobs", 1, "processes that share the run")
	set.Uint64Var(&f.seed, "seed", 0, "of the random inputs (default a fixed one)")
	set.IntVar(&f.random, "random", 0, "random calls of each op from Go (default 2000)")
	set.IntVar(&f.randomTotal, "random-total", 0, "random calls of all ops together")
	set.StringVar(&f.known, "known", "", "file of known failures (default those of the project)")
	set.StringVar(&f.report, "report", "", "folder for the report (default build/report)")
	set.BoolVarP(&f.verbose, "verbose", "v", false, "show every check")
	set.StringVar(&f.job, "job", "", "file of a part of a run")
	_ = set.MarkHidden("job") // it was defined a line before
}

// others are the flags about other people's ops.
func (f *testFlags) others(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.opdefs, "opdefs", "", "folder of definitions (default those of the project)")
	set.StringVar(&f.library, "library", "", "a library that was made by hand, in the place of the built one")
	set.StringArrayVar(&f.callables, "callable", nil,
		"ADAPTOR:OP=MODULE:FUNCTION, or =FILE.py:FUNCTION: test this function; needs no library")
	set.StringArrayVar(&f.against, "against", nil, "ADAPTOR:MODULE.FUNCTION, or ADAPTOR:OP=...: compare with this function")
}

func (a *app) test(cmd *cobra.Command, ops []string, flags *testFlags) error {
	ctx := cmd.Context()
	if err := flags.matrix.usage(cmd); err != nil {
		return err
	}
	if err := cmp.Or(together(cmd), planted(cmd), flags.values()); err != nil {
		return ExitError{Code: exitUsage, Err: err}
	}
	if flags.matrix.on {
		return a.matrix(ctx, ops, flags)
	}
	o, env, err := a.testOptions(ctx, ops, flags)
	if err != nil {
		return err
	}
	if flags.jobs > 1 {
		o.Jobs = flags.jobs
		if o.Command = a.repeated(cmd, ops); o.Command == nil {
			return errors.New("this program cannot start itself for --jobs")
		}
	}
	if flags.planted.on {
		return a.testMutants(ctx, env, o, &flags.planted)
	}
	summary, err := conformance.Run(ctx, o)
	if err != nil {
		return a.ended(err)
	}
	if !summary.OK() {
		return ExitError{Code: exitFindings}
	}
	return nil
}

// testOptions reads the flags and looks for what they need.
func (a *app) testOptions(
	ctx context.Context, ops []string, flags *testFlags,
) (o conformance.Options, env *pyenv.Env, err error) {
	if err := flags.usage(); err != nil {
		return o, nil, err
	}
	p, err := a.definitions(flags.opdefs)
	if err != nil {
		return o, nil, err
	}
	if env, err = a.environment(ctx, flags.python, p.Dir); err != nil {
		return o, nil, err
	}
	if err := env.Require("apache-tvm-ffi", "ml-dtypes", "numpy"); err != nil {
		return o, nil, machineError(err)
	}
	o = conformance.Options{
		Project: p, Python: env.Python, Ops: ops, Adaptors: flags.adaptors, Out: a.stdout, Verbose: flags.verbose,
		Device: flags.device, Random: flags.random, RandomTotal: flags.randomTotal, Native: nativeCommand(),
		Profile: flags.profile, Library: flags.library, Known: flags.known, Only: flags.only, Shard: flags.shard,
		LastFailed: flags.lastFailed, Seed: flags.seed, ReportDir: flags.report, Job: flags.job, Progress: terminal(a.stdout),
	}
	if flags.opdefs == "" {
		o.Stale = func(context.Context) ([]string, error) { return a.stale(p) }
	}
	if o.ReportDir == "" {
		o.ReportDir = a.reportDir(flags, p)
	}
	return o, env, flags.functions(&o)
}

// company are flags that say something only beside one of others.
var company = []struct {
	flag string
	with []string
}{{"mutant", []string{"mutants"}}, {"markdown", []string{"mutants", "matrix"}}}

// strangers are flags that would do nothing in a comparison.
var strangers = []string{
	"callable", "library", "only", "last-failed", "shard", "jobs", "known", "random", "random-total", "adaptor", "profile",
}

// together refuses flags that would be ignored because of others, or without them.
func together(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	for _, f := range company {
		if given(f.flag) && !slices.ContainsFunc(f.with, given) {
			return fmt.Errorf("--%s needs --%s", f.flag, strings.Join(f.with, " or --"))
		}
	}
	for _, name := range strangers {
		if given("against") && given(name) {
			return fmt.Errorf("--against and --%s do not go together", name)
		}
	}
	return nil
}

// usage finds words that are no choice.
func (f *testFlags) usage() error {
	for _, choice := range []struct{ name, value, one, other string }{
		{"device", f.device, "cpu", "cuda"}, {"profile", f.profile, "core", "extended"},
	} {
		if choice.value != choice.one && choice.value != choice.other {
			err := fmt.Errorf("unknown %s %q: %ss are %s and %s", choice.name, choice.value, choice.name, choice.one, choice.other)
			return ExitError{Code: exitUsage, Err: err}
		}
	}
	return nil
}

// functions reads what is named to be tested, or to be compared with.
func (f *testFlags) functions(o *conformance.Options) error {
	var err error
	if o.Callables, err = functions(f.callables, nil); err == nil {
		o.Against, err = functions(f.against, o.Ops)
	}
	if err != nil {
		return ExitError{Code: exitUsage, Err: err}
	}
	return nil
}

// definitions loads a folder of definitions, or the project where none is named.
func (a *app) definitions(dir string) (*opdef.Project, error) {
	if dir == "" {
		return a.load()
	}
	load := opdef.LoadFolder
	if _, err := os.Stat(filepath.Join(dir, opdef.ManifestFile)); err == nil {
		load = opdef.Load
	}
	p, diags, err := load(dir)
	if err != nil {
		return nil, ExitError{Code: exitUsage, Err: err}
	}
	return p, a.findings(diags)
}

// reportDir is in the project, or where the user is for definitions that belong to none. A comparison has a folder of its
// own: it is no run that --last-failed could go on with.
func (a *app) reportDir(flags *testFlags, p *opdef.Project) string {
	name := "report"
	if len(flags.against) > 0 {
		name = "against"
	}
	if flags.opdefs != "" {
		return filepath.Join("build", name)
	}
	return filepath.Join(p.Dir, "build", name)
}

// ended gives errors of the suite their exit code. That nothing had to run is none.
func (a *app) ended(err error) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, conformance.ErrNotBuilt):
		return ExitError{Code: exitMachine, Err: fmt.Errorf("%w\n  run: opcast build", err)}
	case errors.Is(err, conformance.ErrMissing):
		return ExitError{Code: exitMachine, Err: err}
	case errors.Is(err, conformance.ErrUnknown), errors.Is(err, conformance.ErrUsage),
		errors.Is(err, conformance.ErrInput):
		return ExitError{Code: exitUsage, Err: err}
	case errors.As(err, &exit):
		return ExitError{Code: exit.ExitCode(), Err: err} // of a job
	case errors.Is(err, conformance.ErrNothing):
		_, err = fmt.Fprintln(a.stdout, err)
	}
	return err
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
