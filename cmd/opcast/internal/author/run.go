package author

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/cmd/opcast/internal/runner"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// runFlags are the choices of the command line.
type runFlags struct {
	python, workload, kernel, device, tool string

	repeat                  int
	timeout                 time.Duration
	debug, watch, reference bool
}

func newRunCmd(a commands) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run OP [INPUT=SHAPE[:DTYPE]...] [ATTR=VALUE...]",
		Short: "Build, run one call natively, and compare it with the reference",
		Long: `Build, run one call natively, and compare it with the reference.

  opcast run scale x=128x4096:bf16 factor=1e-5

What is not given follows from the rest or is small. "bias=none" leaves an optional input out, "factor=none" takes the default
of an attribute where a workload has a value. The call runs in a process
without Python, each array between memory that nobody may touch. The reference's answer is recorded in build/run and asked for
only when the call or the reference changes.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for flag, device := range usageDevices {
				if given, _ := cmd.Flags().GetBool(flag); given {
					return a.printUsages(cmd.Context(), args, flag, device, flags.python)
				}
			}
			return a.runner(flags)(cmd.Context(), args[0], args[1:], flags)
		},
	}
	app.PythonFlag(cmd, &flags.python)
	cmd.Flags().StringVar(&flags.workload, "workload", "", "begin with the named call of the definition")
	cmd.Flags().StringVar(&flags.kernel, "kernel", "", "the only kernel that may run")
	cmd.Flags().StringVar(&flags.device, "device", "cpu", "cpu, cuda or rocm")
	cmd.Flags().StringVar(&flags.tool, "tool", "", "run under "+strings.Join(runner.Tools(), ", "))
	cmd.Flags().IntVar(&flags.repeat, "repeat", 50, "number of timed calls")
	cmd.Flags().DurationVar(&flags.timeout, "timeout", 30*time.Second, "how long one call, and the reference, may take; 0 means no limit")
	cmd.Flags().BoolVar(&flags.debug, "debug", false, "build without optimisation, with debug information")
	cmd.Flags().BoolVar(&flags.watch, "watch", false, "run again whenever a source file changes")
	cmd.Flags().BoolVar(&flags.reference, "reference", false, "make no call: print what the reference gives, for which no kernel is needed")
	cmd.Flags().Bool("ptxas", false, "make no call: print the registers, memory and instructions of its kernels for CUDA")
	cmd.Flags().Bool("gfx", false, "make no call: print the registers, memory and size of its kernels for AMD's GPUs")
	cmd.MarkFlagsMutuallyExclusive("tool", "watch", "reference", "ptxas", "gfx")
	return cmd
}

// runner is what the flags ask for: one call, a call whenever a source changes, or the reference alone.
func (a commands) runner(flags runFlags) func(context.Context, string, []string, runFlags) error {
	switch {
	case flags.reference:
		return a.runReference
	case flags.watch:
		return a.watch
	}
	return a.run
}

// check refuses values that the flags do not have.
func (f runFlags) check(op *opdef.Op) error {
	var kernels []string
	for _, k := range op.KernelList() {
		kernels = append(kernels, k.Name)
	}
	if tvmffi.Kinds[f.device] == 0 {
		return app.Usage("--device: expected cpu, cuda or rocm, got %q", f.device)
	}
	if f.kernel != "" && !slices.Contains(kernels, f.kernel) {
		return app.Usage("--kernel: expected one of %s, got %q", strings.Join(kernels, ", "), f.kernel)
	}
	if f.repeat < 0 {
		return app.Usage("--repeat: expected a number of calls, got %d", f.repeat)
	}
	if f.timeout < 0 {
		return app.Usage("--timeout: expected a duration such as 30s, got %v", f.timeout)
	}
	if f.tool != "" && !slices.Contains(runner.Tools(), f.tool) {
		return app.Usage("--tool: expected one of %s, got %q", strings.Join(runner.Tools(), ", "), f.tool)
	}
	return nil
}

func (a commands) run(ctx context.Context, name string, words []string, flags runFlags) error {
	p, op, err := a.LoadOp(name)
	if err != nil {
		return err
	}
	r, err := a.prepare(ctx, p, op, words, flags, false)
	if err != nil {
		return err
	}
	return app.MachineError(r.do(ctx))
}

// prepare makes the call that the words describe, hollow if only shapes matter, and brings the library up to date.
func (a commands) prepare(ctx context.Context, p *opdef.Project, op *opdef.Op, words []string, flags runFlags, hollow bool) (*run, error) {
	op, wanted, err := flags.request(op, words)
	if err != nil {
		return nil, err
	}
	wanted.NoData = hollow
	r := &run{commands: a, project: p, op: op, flags: flags}
	if r.trial, err = conformance.NewTrial(op, wanted); err != nil {
		return nil, err
	}
	if r.env, err = a.Environment(ctx, flags.python, p.Dir); err != nil {
		return nil, err
	}
	debug := flags.debug || flags.tool == "gdb" || flags.tool == "valgrind"
	devices, err := app.DevicesFor(p, flags.device)
	if err != nil {
		return nil, err
	}
	result, err := a.Compile(ctx, build.Options{Env: r.env, Debug: debug, Devices: devices})
	if err != nil {
		return nil, err
	}
	r.library = filepath.Join(p.Dir, filepath.FromSlash(result.Library))
	return r, nil
}

// request reads the call that the words describe, and the op for the lengths of its lists.
func (f runFlags) request(op *opdef.Op, words []string) (*opdef.Op, conformance.TrialRequest, error) {
	if err := f.check(op); err != nil {
		return nil, conformance.TrialRequest{}, err
	}
	wanted, err := parseRequest(op, words, f)
	if err != nil {
		return nil, wanted, err
	}
	op, err = instance(op, &wanted)
	return op, wanted, err
}

// run is one run of one call.
type run struct {
	commands
	project *opdef.Project
	op      *opdef.Op
	env     *pyenv.Env
	trial   *conformance.Trial
	flags   runFlags
	// library is the built collection.
	library string
}

func (r *run) do(ctx context.Context) error {
	folder := "build/run/" + r.op.Name
	lock, err := build.LockFile(ctx, r.project.Dir, folder+"/.lock", "another opcast run of "+r.op.Name, r.Stderr)
	if err != nil {
		return err
	}
	defer lock.Release()
	dir := filepath.Join(r.project.Dir, filepath.FromSlash(folder)) // which the lock has made
	call, err := r.call()
	if err != nil {
		return err
	}
	path, err := call.Write(dir)
	if err != nil {
		return err
	}
	program, err := r.program(ctx)
	if err != nil {
		return err
	}
	if r.flags.tool != "" {
		return runner.RunUnder(ctx, r.flags.tool, program, path, r.Stdin, r.Stdout, r.Stderr)
	}
	timing, err := call.Run(ctx, program, path, r.flags.timeout)
	if err != nil {
		return err
	}
	return r.report(ctx, dir, timing, call)
}

// program compiles the runner when it has to.
func (r *run) program(ctx context.Context) (string, error) {
	cxx, err := compiler.FindCXX(ctx, os.Getenv)
	if err != nil {
		return "", err
	}
	lock, err := build.LockFile(ctx, r.project.Dir, "build/run/.lock", "another opcast run", r.Stderr)
	if err != nil {
		return "", err
	}
	defer lock.Release()
	c := runner.Compiler{
		Words: cxx.Words, Key: cxx.Key(os.Getenv) + r.env.Packages["apache-tvm-ffi"], Include: r.env.TVMInclude,
		Source: backend.Runner,
	}
	return c.Program(ctx, filepath.Join(r.project.Dir, "build", "run"), r.Stderr)
}

// call is the case to run.
func (r *run) call() (*runner.Call, error) {
	c := &runner.Call{
		TVMLibrary: r.env.TVMLibrary, Library: r.library, Op: r.op.Name, Kernel: r.flags.kernel,
		DeviceType: int(tvmffi.Kinds[r.flags.device]), Repeat: r.flags.repeat, Guarded: r.flags.tool == "",
	}
	if r.flags.tool != "" {
		c.Repeat = 0
	}
	if !r.flags.debug {
		c.Advice = "with --debug, there are lines, and functions that are inlined here"
	}
	var err error
	c.Arguments, err = exportArguments(r.trial, func(name string, role runner.Role, array *ndarray.Array) any {
		return runner.Array{Array: array, Name: name, Role: role}
	})
	return c, err
}

// exportArguments arranges a call as its export takes it: outputs, inputs, attrs, scratch, and
// before them how many arrays each list has. wrap makes the arrays; absent arguments are nil.
func exportArguments(made *conformance.Trial, wrap func(string, runner.Role, *ndarray.Array) any) (list []any, err error) {
	op := made.Case.Op
	results, err := made.Results()
	if err != nil {
		return nil, err
	}
	scratch, err := made.Scratch()
	if err != nil {
		return nil, err
	}
	if lists := conformance.ListsOf(op); lists != nil {
		for _, length := range lists.Lengths {
			list = append(list, length)
		}
	}
	add := func(name string, role runner.Role, array *ndarray.Array) {
		if array == nil {
			list = append(list, nil)
			return
		}
		list = append(list, wrap(name, role, array))
	}
	for i := range op.Outputs {
		add(op.Outputs[i].Name, runner.Out, results[i])
	}
	for i, array := range made.Case.Inputs {
		role := runner.In
		if op.Inputs[i].Mutated {
			role = runner.InOut
		}
		add(op.Inputs[i].Name, role, array)
	}
	for _, attr := range op.Attrs {
		if attr.Binds == "" {
			list = append(list, made.Attr(attr.Name))
		}
	}
	for i, array := range scratch {
		add(op.Scratch[i].Name, runner.Scratch, array)
	}
	return list, nil
}
