package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/refusals"
	"github.com/opcast/opcast/conformance/internal/known"
	"github.com/opcast/opcast/conformance/internal/native"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/progress"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/rpc"
	"github.com/opcast/opcast/internal/system/tempdir"
)

// Session is one run of the suite.
type Session struct {
	Options Options
	Ops     []*opdef.Op
	choice  choice
	cells   []cell
	Printer *progress.Printer
	started time.Time
	// Temp is a folder for the time of the session, which temp removes.
	Temp string
	temp *tempdir.Folder
	// Processes are the callers that run in processes of their own.
	Processes []*worker.Process
	workers   []*rpc.Worker
	// attempts bounds how often in a row a process may end while it starts; zero means no bound.
	attempts int
	known    map[string][]known.Failure
	// DebugCallers are callers in processes that look at what arrays hold.
	DebugCallers map[string]*worker.Process
	Env          check.Environment
	// ended are the ops whose calls hung or ended processes too often, see deaths.go.
	ended deaths
	// spread says with which ops some checks are tried; nil for with all.
	spread *spread
	// early says that checks begin ahead what they will wait for, in background.
	early      bool
	background sync.WaitGroup
	// job is what a process with a part of the run does; nil outside of one.
	job *job

	mu      sync.Mutex
	results []report.Result
	// notes are lines that jobs told; timings compare with existing kernels.
	notes   []string
	timings []report.Timing
	// interrupted says that the run was stopped; nil where it was not.
	interrupted *report.Interruption
}

// Open writes the worker's files down and starts all workers at once: torch alone needs seconds.
func (s *Session) Open(ctx context.Context, adaptors []string) error {
	if err := s.prepareLibrary(ctx); err != nil {
		return err
	}
	if err := s.MakeTemp(); err != nil {
		return err
	}
	if s.Env.Project == nil {
		s.Env = newEnvironment(s.Options)
	}
	s.Env.DebugCaller = s.debugging
	s.Env.Errors = &oracle.ErrorHistograms{At: map[oracle.HistogramKey]*report.ULPs{}}
	s.Env.Replay = check.ReplayInfo{Python: s.Options.Python, Always: len(s.Options.Callables) > 0, Config: func(name string) worker.Config {
		return s.workerConfig(name, name)
	}}
	s.Printer.Line("starting workers: %s", strings.Join(adaptors, ", "))
	if err := s.start(ctx, adaptors); err != nil {
		return err
	}
	if err := s.expectations(adaptors); err != nil {
		return err
	}
	if err := s.choose(); err != nil {
		return err
	}
	s.beginAhead(ctx, slices.DeleteFunc(slices.Clone(s.cells), func(c cell) bool { return c.caller.Name() == calls.DefinitionName }))
	return s.reproducerFolder()
}

// MakeTemp makes the folder for the time of the session, with the worker's files. That of a job lies in the folder of its
// run, which goes with the run if the job cannot remove it.
func (s *Session) MakeTemp() error {
	parent := ""
	if s.job != nil {
		parent = filepath.Dir(s.Options.Job)
	}
	var err error
	if s.temp, err = tempdir.Make(parent, "opcast-session"); err != nil {
		return fmt.Errorf("worker folder: %w", err)
	}
	s.Temp = s.temp.Path
	return worker.WriteFiles(s.Temp)
}

// start brings the oracle and the callers up.
func (s *Session) start(ctx context.Context, adaptors []string) error {
	reference, err := s.judge(ctx)
	if err != nil {
		return err
	}
	for _, name := range adaptors {
		if name == calls.NativeName {
			continue // it asks the bare backend where tvm-ffi is
		}
		w, err := s.Worker(name, name)
		if err != nil {
			return err
		}
		s.Processes = append(s.Processes, &worker.Process{CallerName: name, Worker: w, Limit: s.Options.Timeout})
	}
	errs := make([]error, len(s.Processes)+1)
	var wait sync.WaitGroup
	for i, r := range s.Processes {
		wait.Go(func() { errs[i] = r.Start(ctx) })
	}
	wait.Go(func() { _, errs[len(s.Processes)] = reference.Start(ctx) })
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if slices.Contains(adaptors, calls.NativeName) {
		if err := s.startNative(ctx); err != nil {
			return err
		}
	}
	return s.connect()
}

// startNative starts the process that calls from Go.
func (s *Session) startNative(ctx context.Context) error {
	r := &worker.Process{CallerName: calls.NativeName, Limit: s.Options.Timeout}
	s.Processes = append(s.Processes, r)
	slices.SortFunc(s.Processes, func(a, b *worker.Process) int { return strings.Compare(a.CallerName, b.CallerName) })
	i := slices.IndexFunc(s.Processes, func(r *worker.Process) bool { return r.CallerName == calls.BackendName })
	switch {
	case len(s.Options.Native) == 0:
		r.Missing = "this program cannot start itself to call from Go"
		return nil
	case s.Processes[i].Missing != "":
		r.Missing = s.Processes[i].Missing // such as a library that cannot be loaded
		return nil
	}
	reached := filepath.Join(s.Temp, "reached")
	var err error
	if r.ProgressPage, err = native.SharedPage(reached); err != nil {
		return err
	}
	config, err := json.Marshal(native.Config{
		TVM: s.Processes[i].TVM, Library: s.library(), Foreign: s.Env.Foreign != nil, Dir: s.Options.Project.Dir, Reached: reached,
		Device: s.Env.Device,
	})
	if err != nil {
		return fmt.Errorf("native caller: %w", err)
	}
	r.Worker = s.newWorker(rpc.Config{
		Command: append(slices.Clone(s.Options.Native), string(config)), Dir: s.Temp,
		Env:           append(s.environ(), s.Options.Project.Manifest.Variable(zeroInvalid)+"=1"),
		StartDeadline: worker.StartDeadline, Memory: rpc.Allowance(),
	})
	return r.Start(ctx)
}

// zeroInvalid is the variable with which a library zeroes the rows that mean nothing, so that whatever compares results need
// not know them.
const zeroInvalid = "ZERO_INVALID"

// Config is what a worker has to know.
func (s *Session) workerConfig(caller, adaptor string) worker.Config {
	p := s.Options.Project
	config := worker.Config{
		Caller: caller + "_caller", Adaptor: adaptor, Collection: p.Manifest.Name, Namespace: p.Manifest.Unique(),
		Paths:           p.ImportFolders(p.Manifest.Adaptors...),
		SingleFramework: caller != "chain", DTypes: worker.DTypes(), Device: s.Env.Device,
		Root:    p.Dir,
		Profile: cmp.Or(s.Options.Profile, check.ProfileCore),
		WarmUp:  s.Options.WarmUp,
		Environ: map[string]string{p.Manifest.Variable(zeroInvalid): "1"},
	}
	if f := s.Env.Foreign; f != nil {
		config.Library, config.Callables = f.Library, f.Functions[adaptor]
		config.Paths = append(paths(f, p), config.Paths...)
	}
	return config
}

// Worker prepares a worker of the session; it is closed with the session.
func (s *Session) Worker(caller, adaptor string) (*rpc.Worker, error) {
	return s.workerWith(s.workerConfig(caller, adaptor))
}

func (s *Session) workerWith(config worker.Config) (*rpc.Worker, error) {
	started, err := worker.Command(s.Options.Python, s.Temp, config)
	if err != nil {
		return nil, err
	}
	started.Attempts = s.attempts
	started.Env = s.environ()
	return s.newWorker(started), nil
}

// expectations loads the known failures.
func (s *Session) expectations(adaptors []string) error {
	s.known = map[string][]known.Failure{}
	for _, name := range append(slices.Clone(adaptors), calls.DefinitionName) {
		known, err := s.loadKnown(name)
		if err != nil {
			return err
		}
		s.known[name] = known
	}
	return nil
}

// Close ends all workers and deletes the temporary folder.
func (s *Session) Close() error {
	s.background.Wait()
	var errs []error
	for _, w := range s.workers {
		errs = append(errs, w.Close())
	}
	if s.temp != nil {
		errs = append(errs, s.temp.Remove())
		s.temp = nil
	}
	return errors.Join(errs...)
}

// debugging returns a caller like the one of the name, in a process in which the library looks at what arrays hold. It
// starts with the first op that has something to look at.
func (s *Session) debugging(ctx context.Context, name string) (calls.Caller, error) {
	if r, ok := s.DebugCallers[name]; ok {
		return r, nil
	}
	if name == calls.NativeName {
		return nil, check.Unsupported("the variable would have to be set before its process starts")
	}
	config := s.workerConfig(name, name)
	config.Environ[refusals.DebugVariable(s.Options.Project)] = "1"
	w, err := s.workerWith(config)
	if err != nil {
		return nil, err
	}
	r := &worker.Process{CallerName: name, Worker: w, Limit: s.Options.Timeout}
	if err := r.Start(ctx); err != nil {
		return nil, err
	}
	if s.DebugCallers == nil {
		s.DebugCallers = map[string]*worker.Process{}
	}
	s.DebugCallers[name] = r
	return r, nil
}
