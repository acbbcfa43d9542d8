package conformance

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
	"github.com/opcast/opcast/internal/worker"
)

//go:embed worker/*.py
var workerFiles embed.FS

// session is one run of the suite.
type session struct {
	options Options
	ops     []*opdef.Op
	printer *printer
	temp    string
	remotes []*remote
	workers []*worker.Worker
	known   map[string][]Known
	env     environment

	mu      sync.Mutex
	results []report.Result
}

// open writes the worker's files down and starts all workers at once: torch alone needs seconds.
func (s *session) open(ctx context.Context, adaptors []string) error {
	if err := requireLibrary(s.options.Project); err != nil {
		return err
	}
	var err error
	if s.temp, err = os.MkdirTemp("", "opcast-conformance-"); err != nil {
		return fmt.Errorf("worker folder: %w", err)
	}
	if err := writeWorker(s.temp); err != nil {
		return err
	}
	s.env = environment{project: s.options.Project, device: s.options.device(), stale: s.options.Stale, random: s.options.Random}
	if s.env.random == 0 {
		s.env.random = randomCalls
	}
	if s.options.ReportDir != "" {
		s.env.cases = filepath.Join(s.options.ReportDir, "cases")
		if err := errors.Join(os.RemoveAll(s.env.cases), os.MkdirAll(s.env.cases, 0o755)); err != nil {
			return fmt.Errorf("folder for failing cases: %w", err)
		}
	}
	s.printer.line("starting workers: %s", strings.Join(adaptors, ", "))
	if err := s.start(ctx, adaptors); err != nil {
		return err
	}
	return s.expectations(adaptors)
}

// writeWorker puts the Python files into a folder.
func writeWorker(dir string) error {
	files, err := fs.Sub(workerFiles, "worker")
	if err == nil {
		err = os.CopyFS(dir, files)
	}
	if err != nil {
		return fmt.Errorf("worker files: %w", err)
	}
	return nil
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
	s.env.oracle = &remoteOracle{worker: oracle, cache: map[[sha256.Size]byte][]Expected{}}
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
	}
	config, err := json.Marshal(nativeConfig{TVM: s.remotes[i].TVM, Library: LibraryPath(s.options.Project)})
	if err != nil {
		return fmt.Errorf("native caller: %w", err)
	}
	r.worker = worker.New(worker.Config{
		Command: append(slices.Clone(s.options.Native), string(config)), Dir: s.temp,
		StartDeadline: startDeadline, CallDeadline: callDeadline,
	})
	s.workers = append(s.workers, r.worker)
	return r.start(ctx)
}

// connect lists who can call, and prepares the process that has several frameworks.
func (s *session) connect() error {
	var frameworks []string
	for _, r := range s.remotes {
		if r.Missing != "" {
			if slices.Contains(s.options.Adaptors, r.name) || r.name == backendName {
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
	if len(frameworks) < 2 {
		return nil
	}
	chain, err := s.worker("chain", strings.Join(frameworks, ","))
	s.env.chain = &remoteChain{worker: chain, frameworks: frameworks} // starts with its first call
	return err
}

// worker prepares a worker of the session; it is closed with the session.
func (s *session) worker(caller, adaptor string) (*worker.Worker, error) {
	p := s.options.Project
	config := workerConfig{
		Caller: caller + "_caller", Adaptor: adaptor, Collection: p.Manifest.Name,
		Paths: []string{filepath.Join(p.Dir, "backend", "python", "src")},
		Alone: caller != "chain", DTypes: dlpackNames(), Device: s.env.device,
	}
	for _, name := range p.Manifest.Adaptors {
		config.Paths = append(config.Paths, filepath.Join(p.Dir, "adaptors", name, "src"))
	}
	started, err := workerCommand(s.options.Python, s.temp, config)
	if err != nil {
		return nil, err
	}
	w := worker.New(started)
	s.workers = append(s.workers, w)
	return w, nil
}

// expectations loads the known failures.
func (s *session) expectations(adaptors []string) error {
	s.known = map[string][]Known{}
	for _, name := range append(slices.Clone(adaptors), definitionName) {
		known, err := loadKnown(s.options.Project.Dir, name)
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

// record keeps the results of a spec and shows them.
func (s *session) record(results []report.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results = append(s.results, results...)
	s.printer.results(results)
}

// publish writes the report and the closing summary.
func (s *session) publish() (report.Summary, error) {
	r := &report.Report{
		Schema: report.Schema, SuiteVersion: Version, Collection: s.options.Project.Manifest.Name,
		Device: s.env.device, Adaptors: map[string]string{}, Results: s.results,
	}
	var err error
	if r.OpdefsDigest, err = definitionsDigest(s.options.Project); err != nil {
		return report.Summary{}, err
	}
	if r.LibrarySHA256, err = fileDigest(LibraryPath(s.options.Project)); err != nil {
		return report.Summary{}, err
	}
	for _, remote := range s.remotes {
		r.Adaptors[remote.name] = remote.Version
		if remote.Hardware != "" {
			r.Device = fmt.Sprintf("%s (%s)", s.env.device, remote.Hardware)
		}
	}
	r.Sort()
	if s.options.ReportDir != "" {
		if err := r.WriteFiles(s.options.ReportDir); err != nil {
			return report.Summary{}, err
		}
		s.printer.line("report: %s", relative(s.options.Project.Dir, filepath.Join(s.options.ReportDir, "index.html")))
	}
	summary := r.Summary()
	s.printer.line("%s", slowest(s.results))
	s.printer.line("%s", summary)
	return summary, nil
}

func fileDigest(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// definitionsDigest covers the text of every definition, in order of the names.
func definitionsDigest(p *opdef.Project) (string, error) {
	h := sha256.New()
	for _, op := range p.Ops {
		text, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(op.File)))
		if err != nil {
			return "", fmt.Errorf("digest: %w", err)
		}
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", op.File, text, op.ReferenceModule)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
