package conformance

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/opcast/opcast/internal/framework"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
	"github.com/opcast/opcast/internal/rpc"
)

//go:embed worker/*.py
var sharedWorker embed.FS

// session is one run of the suite.
type session struct {
	options Options
	ops     []*opdef.Op
	choice  choice
	cells   []cell
	printer *printer
	started time.Time
	temp    string
	remotes []*remote
	workers []*rpc.Worker
	known   map[string][]Known
	// debugged are callers in processes that look at what arrays hold.
	debugged map[string]*remote
	env      environment
	// job is what a process with a part of the run does; nil outside of one.
	job *job

	mu      sync.Mutex
	results []report.Result
	// notes are lines that jobs told; timings compare with existing kernels.
	notes   []string
	timings []report.Timing
}

// open writes the worker's files down and starts all workers at once: torch alone needs seconds.
func (s *session) open(ctx context.Context, adaptors []string) error {
	if err := s.requireLibrary(); err != nil {
		return err
	}
	var err error
	if s.temp, err = os.MkdirTemp("", "opcast-conformance-"); err != nil {
		return fmt.Errorf("worker folder: %w", err)
	}
	if err := writeWorker(s.temp); err != nil {
		return err
	}
	if s.env.project == nil {
		s.env = newEnvironment(s.options)
	}
	s.env.debugging = s.debugging
	s.env.ulps = &measured{at: map[measuredKey]*report.ULPs{}}
	s.env.replay = replay{python: s.options.Python, only: len(s.options.Callables) > 0, config: func(name string) workerConfig {
		return s.workerConfig(name, name)
	}}
	s.printer.line("starting workers: %s", strings.Join(adaptors, ", "))
	if err := s.start(ctx, adaptors); err != nil {
		return err
	}
	if err := s.expectations(adaptors); err != nil {
		return err
	}
	if err := s.choose(); err != nil {
		return err
	}
	return s.caseFolder()
}

// workerFolders hold the Python files of workers: those that all share, then those of each framework.
func workerFolders() ([]fs.FS, error) {
	shared, err := fs.Sub(sharedWorker, "worker")
	if err != nil {
		return nil, fmt.Errorf("worker files: %w", err)
	}
	folders := []fs.FS{shared}
	for _, f := range framework.All() {
		if own, ok := f.Worker(); ok {
			folders = append(folders, own)
		}
	}
	return folders, nil
}

// writeWorker puts the Python files into one folder, where they import each other by their names. No two may have the
// same name.
func writeWorker(dir string) error {
	folders, err := workerFolders()
	for _, files := range folders {
		if err := os.CopyFS(dir, files); err != nil {
			return fmt.Errorf("worker files: %w", err)
		}
	}
	return err
}

// start brings the oracle and the callers up.
func (s *session) start(ctx context.Context, adaptors []string) error {
	oracle, err := s.worker("reference", "")
	if err != nil {
		return err
	}
	for _, name := range adaptors {
		if name == nativeName {
			continue // it asks the bare backend where tvm-ffi is
		}
		w, err := s.worker(name, name)
		if err != nil {
			return err
		}
		s.remotes = append(s.remotes, &remote{name: name, worker: w})
	}
	errs := make([]error, len(s.remotes)+1)
	var wait sync.WaitGroup
	for i, r := range s.remotes {
		wait.Go(func() { errs[i] = r.start(ctx) })
	}
	wait.Go(func() { _, errs[len(s.remotes)] = oracle.Start(ctx) })
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	judge := &remoteOracle{worker: oracle, cache: map[[sha256.Size]byte][]Expected{}}
	s.env.oracle, s.env.samplers = judge, judge.samplers(ctx, s.options.Project.Ops)
	if slices.Contains(adaptors, nativeName) {
		if err := s.startNative(ctx); err != nil {
			return err
		}
	}
	return s.connect()
}

// startNative starts the process that calls from Go.
func (s *session) startNative(ctx context.Context) error {
	r := &remote{name: nativeName}
	s.remotes = append(s.remotes, r)
	slices.SortFunc(s.remotes, func(a, b *remote) int { return strings.Compare(a.name, b.name) })
	i := slices.IndexFunc(s.remotes, func(r *remote) bool { return r.name == backendName })
	switch {
	case len(s.options.Native) == 0:
		r.Missing = "this program cannot start itself to call from Go"
		return nil
	case s.env.device != "cpu":
		r.Missing = "the caller in Go has memory of the host only"
		return nil
	case s.remotes[i].Missing != "":
		r.Missing = s.remotes[i].Missing // such as a library that cannot be loaded
		return nil
	}
	reached := filepath.Join(s.temp, "reached")
	var err error
	if r.reached, err = sharedPage(reached); err != nil {
		return err
	}
	config, err := json.Marshal(nativeConfig{
		TVM: s.remotes[i].TVM, Library: s.library(), Foreign: s.env.foreign != nil, Dir: s.options.Project.Dir, Reached: reached,
	})
	if err != nil {
		return fmt.Errorf("native caller: %w", err)
	}
	r.worker = rpc.New(rpc.Config{
		Command: append(slices.Clone(s.options.Native), string(config)), Dir: s.temp,
		StartDeadline: startDeadline, CallDeadline: callDeadline, Memory: rpc.Allowance(),
	})
	s.workers = append(s.workers, r.worker)
	return r.start(ctx)
}

// connect lists who can call, and prepares the process that has several frameworks.
func (s *session) connect() error {
	var frameworks []string
	for _, r := range s.remotes {
		if r.Missing != "" {
			if slices.Contains(s.options.Adaptors, r.name) || r.name == backendName || s.env.foreign.callables() {
				return fmt.Errorf("%s %w: %s", r.name, ErrMissing, r.Missing)
			}
			s.printer.line("note: %s: %s", r.name, r.Missing)
			continue
		}
		s.env.callers = append(s.env.callers, r)
		if !isBare(r) {
			frameworks = append(frameworks, r.name)
		}
	}
	if len(frameworks) < 2 || s.env.foreign != nil {
		return nil
	}
	chain, err := s.worker("chain", strings.Join(frameworks, ","))
	s.env.chain = &remoteChain{worker: chain, frameworks: frameworks} // starts with its first call
	return err
}

// workerConfig is what a worker has to know.
func (s *session) workerConfig(caller, adaptor string) workerConfig {
	p := s.options.Project
	config := workerConfig{
		Caller: caller + "_caller", Adaptor: adaptor, Collection: p.Manifest.Name,
		Paths: []string{filepath.Join(p.Dir, "backend", "python", "src")},
		Alone: caller != "chain", DTypes: dlpackNames(), Device: s.env.device,
	}
	if f := s.env.foreign; f != nil {
		config.Library, config.Callables = f.library, f.functions[adaptor]
		config.Paths = f.paths(p)
	}
	for _, name := range p.Manifest.Adaptors {
		config.Paths = append(config.Paths, filepath.Join(p.Dir, "adaptors", name, "src"))
	}
	return config
}

// worker prepares a worker of the session; it is closed with the session.
func (s *session) worker(caller, adaptor string) (*rpc.Worker, error) {
	return s.workerWith(s.workerConfig(caller, adaptor))
}

func (s *session) workerWith(config workerConfig) (*rpc.Worker, error) {
	started, err := workerCommand(s.options.Python, s.temp, config)
	if err != nil {
		return nil, err
	}
	w := rpc.New(started)
	s.workers = append(s.workers, w)
	return w, nil
}

// expectations loads the known failures.
func (s *session) expectations(adaptors []string) error {
	s.known = map[string][]Known{}
	for _, name := range append(slices.Clone(adaptors), definitionName) {
		known, err := s.loadKnown(name)
		if err != nil {
			return err
		}
		s.known[name] = known
	}
	return nil
}

func (s *session) close() error {
	var errs []error
	for _, w := range s.workers {
		errs = append(errs, w.Close())
	}
	if s.temp != "" {
		errs = append(errs, os.RemoveAll(s.temp))
	}
	return errors.Join(errs...)
}
