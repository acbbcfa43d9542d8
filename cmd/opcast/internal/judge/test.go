package judge

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/generated"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// testFlags are the choices of the command line: those that the suite takes as they are, and those that choose for it.
type testFlags struct {
	conformance.Options
	opdefs, sanitize         string
	callables                []string
	noBuild, fast, installed bool
}

const testLong = `Build, and prove the collection: call every op through every adaptor.

With --installed, nothing is built: the packages are tested that are installed in the environment, such as wheels.

The checks are made from the definitions; the float64 reference of each op is the judge. The folder build/report gets
report.json, junit.xml, index.html and, for each failure, a script that repeats it.

Ops that opcast did not build are tested by the definitions in a folder, either in a library that was made by hand or as
functions in Python:

  opcast test --library libtheirs.so --opdefs DIR
  opcast test --opdefs DIR --callable torch:OP=vendor.ops:function --callable jax:OP=ops.py:function`

func newTestCmd(a commands) *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test [OP...]",
		Short: "Build, and prove the collection: call every op through every adaptor",
		Long:  testLong,
		RunE:  func(cmd *cobra.Command, ops []string) error { return a.test(cmd, ops, &flags) },
	}
	app.PythonFlag(cmd, &flags.Python)
	cmd.Flags().StringVar(&flags.Device, "device", "cpu", "put the arrays on this device: cpu, cuda, rocm, or emulated or emulated-rocm, which are CUDA and ROCm without a GPU")
	profileFlag(cmd, &flags.Profile)
	cmd.Flags().BoolVar(&flags.fast, "fast", false, "short for --profile fast")
	jobsFlag(cmd, &flags.Jobs)
	seedFlag(cmd, &flags.Seed)
	cmd.Flags().DurationVar(&flags.Timeout, "timeout", conformance.CallLimit,
		"how long one call may take; what compiles or makes many calls gets four times as long")
	reportFlag(cmd, &flags.ReportDir, "build/report")
	verboseFlag(cmd, &flags.Verbose, "every check")
	noBuildFlag(cmd, &flags.noBuild)
	cmd.Flags().StringVar(&flags.sanitize, "sanitize", "",
		"test a library of its own in which GCC's sanitizer looks for errors, through the callers without a framework: address, undefined or thread")
	cmd.Flags().BoolVar(&flags.installed, "installed", false,
		"test the packages that are installed in the environment instead of the project's; they must be made from the same sources")
	flags.choices(cmd)
	flags.others(cmd)
	return cmd
}

// choices are the flags about which checks run, through what, and how often.
func (f *testFlags) choices(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringSliceVar(&f.Adaptors, "adaptor", nil, "call the ops only through these adaptors; "+
		`three more names stand for callers that are no framework: "backend" is the bare library, "native" the same from Go, `+
		`and "op_call" calls every op by its number`)
	set.StringVar(&f.Only, "only", "", `run only the checks in this file of lines "op adaptor check", where * stands for all`)
	set.BoolVar(&f.Spread, "spread", false, "try what follows from the definition alone with some ops, which together have all traits of the definitions")
	set.BoolVar(&f.LastFailed, "last-failed", false, "run only what failed in the last run, and what that did not reach if it was interrupted")
	set.StringVar(&f.Shard, "shard", "", `"i/n": run the i-th of n parts of the run`)
	set.IntVar(&f.Random, "random", 0, "make this many random calls of each op from Go (default 2000)")
	set.IntVar(&f.RandomTotal, "random-total", 0, "make this many random calls of all ops together")
	set.IntVar(&f.WarmUp, "warm-up", 0, "make this many plain calls before each check, with the same arguments, which must change nothing")
	set.StringVar(&f.Known, "known", "", "accept the failures that this file lists (default the lists of the project)")
	set.StringVar(&f.Job, "job", "", "run the part of a run that this file describes")
	_ = set.MarkHidden("job") // it was defined a line before
}

// others are the flags about ops that opcast did not build.
func (f *testFlags) others(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.opdefs, "opdefs", "", "take the definitions from this folder (default those of the project)")
	set.StringVar(&f.Library, "library", "", "test this library, which was made by hand, instead of the built one")
	set.StringArrayVar(&f.callables, "callable", nil,
		"ADAPTOR:OP=MODULE:FUNCTION, or =FILE.py:FUNCTION: test this function; no library is needed")
}

func (a commands) test(cmd *cobra.Command, ops []string, flags *testFlags) error {
	if flags.fast && cmd.Flags().Changed("profile") {
		return app.Usage("--fast stands for --profile fast: give one of them")
	}
	ctx := cmd.Context()
	o, err := a.testOptions(ctx, ops, flags)
	if err != nil {
		return err
	}
	if o.Jobs > 1 {
		if o.Command, err = a.repeated(cmd, ops); err != nil {
			return err
		}
	}
	summary, err := conformance.Run(ctx, o)
	if err != nil {
		return a.suiteError(err)
	}
	if !summary.OK() {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}

// testOptions reads the flags and looks for what they need.
func (a commands) testOptions(ctx context.Context, ops []string, flags *testFlags) (o conformance.Options, err error) {
	callables, err := flags.check()
	if err != nil {
		return o, err
	}
	p, err := a.definitions(flags.opdefs)
	if err != nil {
		return o, err
	}
	env, err := a.suiteEnvironment(ctx, flags.Python, p.Dir)
	if err != nil {
		return o, err
	}
	if flags.installed {
		if p.Installed, err = installedPackages(ctx, p, env); err != nil {
			return o, err
		}
	}
	o = flags.Options
	o.Project, o.Callables, o.Ops, o.Python, o.Native = p, callables, ops, env.Python, a.nativeCommand()
	o.Out, o.Progress = diag.Raw(a.Stdout), terminal(a.Stdout) // which makes texts plain itself
	emulate(&o)
	switch {
	case flags.sanitize != "":
		if err := a.sanitized(ctx, &o, env, flags.sanitize); err != nil {
			return o, err
		}
	case flags.opdefs == "" && flags.Library == "" && len(callables) == 0:
		o.Build = func(ctx context.Context) error {
			return a.current(ctx, p, env, flags.noBuild || flags.installed, flags.Device)
		}
	}
	if flags.opdefs == "" {
		o.Stale = func(context.Context) ([]string, error) { return generated.Stale(p) }
		o.ReportDir, err = reportIn(p, flags.ReportDir, "build/report")
		return o, err
	}
	o.ReportDir = cmp.Or(flags.ReportDir, filepath.Join("build", "report")) // definitions in a folder belong to no project
	return o, nil
}

// emulate has the callers that need no framework find the driver of an emulated device, if the tests are to run on one: a framework
// has no memory there.
func emulate(o *conformance.Options) {
	device, emulated := build.Unemulated(o.Device)
	if !emulated {
		return
	}
	o.Device, o.Driver = device, build.DriverIn(o.Project.Dir, o.Device)
	if len(o.Adaptors) == 0 {
		o.Adaptors = []string{conformance.BackendName, conformance.NativeName, conformance.OpCallName}
	}
}

// check refuses values that no flag can have, and returns the functions to be tested.
func (f *testFlags) check() ([]conformance.Callable, error) {
	if f.installed && (f.opdefs != "" || f.Library != "" || len(f.callables) > 0) {
		return nil, app.Usage("--installed tests the packages of a project, --opdefs, --library and --callable something else")
	}
	if err := f.checkSanitizer(); err != nil {
		return nil, err
	}
	if f.fast {
		f.Profile = conformance.ProfileFast
	}
	err := cmp.Or(
		oneOf("device", f.Device, append(testDevices, build.Emulated, build.EmulatedROCm)...), oneOf("profile", f.Profile, "fast", "core", "extended"),
		atLeast("jobs", f.Jobs, 1), atLeast("random", f.Random, 0), atLeast("random-total", f.RandomTotal, 0), atLeast("warm-up", f.WarmUp, 0),
		positive("timeout", f.Timeout), reportFolder(f.ReportDir),
	)
	if err != nil {
		return nil, err
	}
	var out []conformance.Callable
	for _, text := range f.callables {
		c, err := callable(text)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// callable reads "ADAPTOR:OP=FUNCTION".
func callable(text string) (c conformance.Callable, err error) {
	name, function, named := strings.Cut(text, "=")
	if !named {
		return c, app.Usage("%q names no op: expected ADAPTOR:OP=MODULE:FUNCTION", text)
	}
	adaptor, op, _ := strings.Cut(name, ":")
	function, ok := target(function)
	if adaptor == "" || op == "" || !ok {
		return c, app.Usage("%q names no function: expected ADAPTOR:OP=MODULE:FUNCTION", text)
	}
	return conformance.Callable{Adaptor: adaptor, Op: op, Target: function}, nil
}

// definitions loads a folder of definitions, or the project where none is named.
func (a commands) definitions(dir string) (*opdef.Project, error) {
	if dir == "" {
		return a.Load()
	}
	read := load.Folder
	if _, err := os.Stat(filepath.Join(dir, manifest.File)); err == nil {
		read = load.Load
	}
	p, diags, err := read(dir)
	if err != nil {
		return nil, app.ExitError{Code: app.ExitUsage, Err: err}
	}
	return p, a.Findings(diags)
}

// errNoSelf means that a command has to start this program again and does not know its path.
var errNoSelf = errors.New("this program does not know its own path, so it cannot start itself again")

// repeated is the command line that runs a command again in one process. More flags can be appended.
func (a commands) repeated(cmd *cobra.Command, args []string) ([]string, error) {
	if a.Self == "" {
		return nil, errNoSelf
	}
	words := []string{a.Self, "-C", a.Dir, cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "jobs" || f.Name == "dir" {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+f.Name+"="+v)
		}
	})
	return append(words, args...), nil
}
