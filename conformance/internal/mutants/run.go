// Package mutants plants small errors into a copy of a collection, one at a time, and says which of them the suite notices.
package mutants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/mutate"
	"github.com/opcast/opcast/conformance/internal/run"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// Options say which mutants to make, and what to run them with.
type Options struct {
	Project *opdef.Project
	// Python is the interpreter of the environment with the frameworks.
	Python string
	// Native is the command that runs native.Serve with the argument that is appended; empty leaves that caller out.
	Native []string
	// Ops and Adaptors narrow the run; empty means all.
	Ops, Adaptors []string
	// Mutants restricts the run to those whose ID has one of these texts in it; empty means all.
	Mutants []string
	// Seed makes the random inputs; zero stands for the fixed one.
	Seed uint64
	// Prepare brings the project's own library up to date, once the options are known to be right; nil leaves it as it is.
	Prepare func(ctx context.Context) error
	// Build compiles the project in a folder, which holds its generated files already, for the host or the emulated device.
	Build func(ctx context.Context, dir string, emulated bool) error
	// Driver is the folder of the driver that a build for the emulated device leaves in the folder of a project.
	Driver func(dir string) string
	// Budget bounds the time for the checks of one mutant beside those that should notice; zero means 10 s.
	Budget time.Duration
	// Out gets progress, survivors and the table; Verbose adds a line per mutant.
	Out     io.Writer
	Verbose bool
	// ReportDir gets report.json and index.html; empty writes none. Markdown is the page that gets the table; empty
	// means none.
	ReportDir, Markdown string
}

func (o *Options) budget() time.Duration {
	if o.Budget == 0 {
		return 10 * time.Second
	}
	return o.Budget
}

// ErrSurvived means that the suite did not notice a mutant, or noticed one that is listed as equivalent.
var ErrSurvived = errors.New("mutants survived")

// Run makes every mutant of the operators in copies of the project, one at a time, and runs checks of its op until one fails.
// The mutants in C++ are all in one library, which is built once, and are switched on there; those in Python are edits of a
// second copy. Both run at the same time.
func Run(ctx context.Context, o Options) ([]report.Mutant, error) {
	m := &Runner{options: &o, began: time.Now()}
	ops, adaptors, err := run.Selection(run.Options{Subject: run.Subject{Project: o.Project}, Scope: run.Scope{Ops: o.Ops, Adaptors: o.Adaptors}}, nil)
	if err != nil {
		return nil, err
	}
	for _, op := range ops {
		m.ops = append(m.ops, op.Name)
	}
	if m.Known, err = LoadEquivalent(o.Project.Dir); err != nil {
		return nil, err
	}
	if o.Prepare != nil {
		if err := o.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	var wait sync.WaitGroup
	errs := make([]error, 2)
	if len(o.Adaptors) == 0 || slices.Contains(o.Adaptors, calls.BackendName) {
		wait.Go(func() { errs[0] = errors.Join(m.judgeLibrary(ctx, false), m.judgeLibrary(ctx, true)) })
	}
	adaptors = slices.DeleteFunc(adaptors, func(name string) bool { return !slices.Contains(o.Project.Manifest.Adaptors, name) })
	if len(adaptors) > 0 {
		wait.Go(func() { errs[1] = m.judgePackages(ctx, adaptors) })
	}
	wait.Wait()
	err = errors.Join(errs...)
	if err == nil && m.planned.Load() == 0 {
		err = fmt.Errorf("%w: no operator makes a mutant of these ops, adaptors and names", run.ErrUsage)
	}
	if err != nil && len(m.verdicts) == 0 {
		return nil, err
	}
	return m.verdicts, errors.Join(err, m.finish(ctx))
}

// Runner is one run.
type Runner struct {
	options *Options
	began   time.Time
	ops     []string
	Known   []Equivalent
	// planned counts the mutants that are to be judged.
	planned atomic.Int64

	mu       sync.Mutex
	verdicts []report.Mutant
}

func (m *Runner) logf(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprintf(m.options.Out, format+"\n", args...)
}

// judgeLibrary judges the mutants in C++ that show on the host, or those that show on the emulated device.
func (m *Runner) judgeLibrary(ctx context.Context, emulated bool) error {
	b, err := m.newSandbox()
	b.emulated = emulated
	defer b.close(ctx)
	if err != nil {
		return err
	}
	all, err := mutate.Plant(b.source())
	if err != nil {
		return fmt.Errorf("plant mutants: %w", err)
	}
	list := slices.DeleteFunc(m.selected(all, ""), func(x *mutate.Mutant) bool { return x.Operator.Emulated != emulated })
	if len(list) == 0 {
		return nil
	}
	if emulated && !slices.Contains(b.Project.Manifest.Devices, "cuda") {
		for _, x := range list {
			b.record(x, report.Mutant{Verdict: report.NotRun, Reason: "the project has no kernels for CUDA"})
		}
		return nil
	}
	if err := b.activate(0); err != nil {
		return err
	}
	m.planned.Add(int64(len(list)))
	m.logf("%d mutants in C++: building a library that has them", len(list))
	if err := m.options.Build(ctx, b.dir, emulated); err != nil {
		return fmt.Errorf("build the mutants: %w", err)
	}
	return b.runSwitched(ctx, list)
}

// judgePackages judges the mutants in Python.
func (m *Runner) judgePackages(ctx context.Context, adaptors []string) error {
	b, err := m.newSandbox()
	defer b.close(ctx)
	if err != nil {
		return err
	}
	all, err := mutate.Edits(b.source())
	if err != nil {
		return fmt.Errorf("plant mutants: %w", err)
	}
	if all = m.selected(all, ""); len(all) == 0 {
		return nil
	}
	m.planned.Add(int64(len(all)))
	m.logf("%d mutants in Python", len(all))
	present, err := b.installed(ctx, adaptors)
	if err != nil {
		return err
	}
	for _, name := range adaptors {
		if slices.Contains(present, name) {
			continue
		}
		for _, x := range m.selected(all, name) {
			m.record(x, report.Mutant{Verdict: report.NotRun, Reason: "the framework of this adaptor is not here"})
		}
	}
	adaptors = present
	for _, layer := range slices.Concat([]string{sharedLayer}, adaptors) {
		if err := b.runEdits(ctx, layer, m.selected(all, layer), adaptors); err != nil {
			return err
		}
	}
	return nil
}

// selected are the mutants of a layer, or of all, that the options ask for.
func (m *Runner) selected(all []*mutate.Mutant, layer string) []*mutate.Mutant {
	return slices.DeleteFunc(slices.Clone(all), func(x *mutate.Mutant) bool {
		some := len(m.options.Mutants) == 0
		for _, part := range m.options.Mutants {
			some = some || strings.Contains(x.ID, part)
		}
		// What all ops share shows in some of them only, so that a few prove nothing.
		part := x.Op == "" && len(m.options.Ops) > 0 && len(m.options.Mutants) == 0
		return !some || part || layer != "" && x.Layer() != layer
	})
}
