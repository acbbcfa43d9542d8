package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/refusals"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/rpc"
	"github.com/opcast/opcast/internal/system/stacks"
	"github.com/opcast/opcast/internal/system/tempdir"
)

// Pool is the processes of a run: the callers, the oracle, and those that checks start.
type Pool struct {
	// Callers are in the order of reports. One may be missing, and says why.
	Callers []*worker.Process
	// Debug are callers in whose processes the library looks at what arrays hold.
	Debug map[string]*worker.Process

	options Options
	foreign *check.ForeignCode
	// say tells what is going on.
	say func(format string, args ...any)
	// attempts bounds how often in a row a process may end while it starts; zero means no bound.
	attempts int
	workers  []*rpc.Worker
	// reference starts with the callers.
	reference *rpc.Worker
	folder    *tempdir.Folder
	// beside is what runs while checks run: Close waits for it.
	beside sync.WaitGroup
	// abandoned says that nobody waits, since the run was interrupted.
	abandoned bool
}

// NewPool is a pool without processes.
func NewPool(o Options) *Pool { return &Pool{options: o, say: func(string, ...any) {}} }

// Open starts callers, and returns what runs checks through them.
func (p *Pool) Open(ctx context.Context, callers []string) (*Runner, error) {
	return p.open(ctx, &Plan{callers: callers})
}

// prepare brings the library and the oracle's processes up, but for their start.
func (p *Pool) prepare(ctx context.Context) (*check.Environment, error) {
	o := p.options
	if err := prepareLibrary(ctx, o, p.foreign); err != nil {
		return nil, err
	}
	env := &check.Environment{
		Project: o.Project, Device: o.device(), StaleFiles: askedOnce(o.Stale), RandomCallsPerOp: o.randomCalls(), Seed: o.Seed,
		Foreign: p.foreign, DebugCaller: p.debugCaller, Sanitizer: o.Sanitizer,
		Errors: &oracle.ErrorHistograms{At: map[oracle.HistogramKey]*report.ULPs{}},
		Replay: check.ReplayInfo{Python: o.Python, Under: o.Under, Always: len(o.Callables) > 0, Config: func(name string) worker.Config { return p.config(name, name) }},
	}
	var err error
	if p.reference, err = p.NewReference(); err != nil {
		return nil, err
	}
	// Authors' independent formulas import frameworks: their process does that, with its first call, while the others start.
	formulas, err := p.NewReference()
	judge := &oracle.Python{Worker: p.reference, Formulas: formulas, Cache: map[[sha256.Size]byte][]oracle.Expected{}}
	env.Oracle, env.Samplers = judge, judge.Samplers(ctx, o.Project.Ops)
	return env, err
}

// start starts all callers at once: torch alone needs seconds.
func (p *Pool) start(ctx context.Context, env *check.Environment, of *Plan) error {
	p.say("starting workers: %s", strings.Join(of.callers, ", "))
	for _, name := range of.callers {
		caller := &worker.Process{CallerName: name, Limit: p.options.Timeout}
		p.Callers = append(p.Callers, caller)
		config := p.config(name, name)
		if config.Profile == check.ProfileCore && !of.transforms(name) {
			config.Profile = check.ProfileFast
		}
		var err error
		if name != calls.NativeName { // which asks the bare backend where tvm-ffi is
			caller.Worker, err = p.worker(config)
		}
		if err != nil {
			return err
		}
	}
	errs := make([]error, len(p.Callers)+1)
	var wait sync.WaitGroup
	for i, caller := range p.Callers {
		if caller.Worker != nil {
			wait.Go(func() { errs[i] = caller.Start(ctx) })
		}
	}
	wait.Go(func() { _, errs[len(p.Callers)] = p.reference.Start(ctx) })
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if native := p.process(calls.NativeName); native != nil {
		if err := p.startNative(ctx, native); err != nil {
			return err
		}
	}
	return p.connect(env)
}

// process is the process of a caller; nil where none was started.
func (p *Pool) process(name string) *worker.Process {
	if i := slices.IndexFunc(p.Callers, func(c *worker.Process) bool { return c.CallerName == name }); i >= 0 {
		return p.Callers[i]
	}
	return nil
}

// caller is the caller of a cell.
func (p *Pool) caller(name string) calls.Caller {
	if name == calls.DefinitionName {
		return calls.Definition{}
	}
	return p.process(name)
}

// Close ends all processes and deletes their folder.
func (p *Pool) Close() error {
	if !p.abandoned {
		p.beside.Wait()
	}
	var errs []error
	for _, w := range p.workers {
		errs = append(errs, w.Close())
	}
	if p.folder != nil {
		errs = append(errs, p.folder.Remove())
		p.folder = nil
	}
	return errors.Join(errs...)
}

// abandon has Close wait for nothing that only computes.
func (p *Pool) abandon() { p.abandoned = true }

// Kill ends all processes at once, where nobody wants to wait until they have tidied up.
func (p *Pool) Kill() {
	var wait sync.WaitGroup
	for _, w := range p.workers {
		wait.Go(w.Kill)
	}
	wait.Wait()
}

// NewReference prepares a process that evaluates references.
func (p *Pool) NewReference() (*rpc.Worker, error) { return p.worker(p.config("reference", "")) }

// debugCaller returns a caller like the one of the name, in a process in which the library looks at what arrays hold. It
// starts with the first op that has something to look at.
func (p *Pool) debugCaller(ctx context.Context, name string) (calls.Caller, error) {
	if r, ok := p.Debug[name]; ok {
		return r, nil
	}
	if name == calls.NativeName {
		return nil, check.Unsupported("the variable would have to be set before its process starts")
	}
	config := p.config(name, name)
	config.Profile = check.ProfileFast
	config.Environ[refusals.DebugVariable(p.options.Project)] = "1"
	w, err := p.worker(config)
	if err != nil {
		return nil, err
	}
	r := &worker.Process{CallerName: name, Worker: w, Limit: p.options.Timeout}
	if err := r.Start(ctx); err != nil {
		return nil, err
	}
	if p.Debug == nil {
		p.Debug = map[string]*worker.Process{}
	}
	p.Debug[name] = r
	return r, nil
}

// worker prepares a process that runs Python.
func (p *Pool) worker(config worker.Config) (*rpc.Worker, error) {
	dir, err := p.dir()
	if err != nil {
		return nil, err
	}
	started, err := worker.Command(p.options.Python, dir, config)
	if err != nil {
		return nil, err
	}
	started.Attempts = p.attempts
	started.Env = p.environ()
	if config.Adaptor != "" { // it calls the library
		started.Command = slices.Concat(p.options.Under, started.Command)
	}
	return p.add(started), nil
}

// dir is a folder with the workers' files. That of a job lies in the folder of its run, which goes with the run if the job
// cannot remove it.
func (p *Pool) dir() (string, error) {
	if p.folder != nil {
		return p.folder.Path, nil
	}
	parent := ""
	if p.options.Job != "" {
		parent = filepath.Dir(p.options.Job)
	}
	var err error
	if p.folder, err = tempdir.Make(parent, "opcast-session"); err != nil {
		return "", fmt.Errorf("worker folder: %w", err)
	}
	return p.folder.Path, worker.WriteFiles(p.folder.Path)
}

// add makes a process of the pool, with the deadlines that the options ask for.
func (p *Pool) add(config rpc.Config) *rpc.Worker {
	config.CallDeadline = worker.LongCall * cmp.Or(p.options.Timeout, worker.CallLimit)
	if library := library(p.options, p.foreign); library != "" {
		config.Stacks = func(pid int) string { // where its threads are inside of the library under test
			found, err := stacks.Of(pid, library)
			if err != nil {
				return "  " + err.Error()
			}
			return strings.Join(found, "\n  and\n")
		}
	}
	w := rpc.New(config)
	p.workers = append(p.workers, w)
	return w
}

// environ is the environment of the processes that call. With an emulated device they find its driver before a GPU's.
func (p *Pool) environ() []string {
	environ := os.Environ()
	if p.options.Driver == "" {
		return environ
	}
	const variable = "LD_LIBRARY_PATH="
	path := p.options.Driver
	for _, v := range environ {
		if before, ok := strings.CutPrefix(v, variable); ok && before != "" {
			path += string(os.PathListSeparator) + before
		}
	}
	return append(environ, variable+path)
}

// zeroInvalid is the variable with which a library zeroes the rows that mean nothing, so that whatever compares results need
// not know them.
func zeroInvalid(p *opdef.Project) string { return p.Manifest.Variable("ZERO_INVALID") }

// config is what a worker has to know.
func (p *Pool) config(caller, adaptor string) worker.Config {
	project := p.options.Project
	config := worker.Config{
		Caller: caller + "_caller", Adaptor: adaptor, Collection: project.Manifest.Name, Namespace: project.Manifest.Unique(),
		Paths:           project.ImportFolders(project.Manifest.Adaptors...),
		SingleFramework: caller != "chain", DTypes: worker.DTypes(), Device: p.options.device(),
		Root:    project.Dir,
		Profile: cmp.Or(p.options.Profile, check.ProfileCore),
		WarmUp:  p.options.WarmUp,
		Environ: map[string]string{zeroInvalid(project): "1"},
	}
	if f := p.foreign; f != nil {
		config.Library, config.Callables = f.Library, f.Functions[adaptor]
		config.Paths = append(paths(project), config.Paths...)
	}
	return config
}
