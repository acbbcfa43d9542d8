// Package run proves, op by op and adaptor by adaptor, that a collection does what its definitions say.
//
// The suite is made from the definitions: it knows no op by name, so it serves any project. Go makes the inputs, keeps one
// long-lived Python process per framework, and compares bytes itself: no framework judges itself. The oracle is the
// definition's reference in float64. Each check is one value beside its body, in a package
// below conformance/internal/checks; each runs for every op through every adaptor, as
// one Ginkgo spec, and every such combination has a result in the report. A missing one is a failure.
package run

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// Options are all that a run is told.
type Options struct {
	Subject
	Scope
	Effort
	Output
}

// Subject is what is tested, and where.
type Subject struct {
	Project *opdef.Project
	// Library is the library under test; empty stands for the one that `opcast build` makes.
	Library string
	// Device is "cpu", which is also meant by nothing, "cuda" or "rocm".
	Device string
	// Driver is the folder of the driver of an emulated device; empty stands for the machine's.
	Driver string
	// Callables are functions that stand for an adaptor's op; with them only their ops and adaptors are tested.
	Callables []Callable
}

// Scope is which specs run.
type Scope struct {
	// Ops and Adaptors narrow the run; empty means all.
	Ops, Adaptors []string
	// Profile is the largest profile of checks that runs: "fast", empty or "core", or "extended".
	Profile string
	// Spread tries checks that follow from what is generated of a definition with some of the ops only, which together have
	// every trait of the definitions.
	Spread bool
	// Known and Only are files: known failures (empty: the project's own), and the specs to run (empty: all).
	Known, Only string
	// Shard is "i/n", the i-th of n parts of the specs, counted from 1; empty means all.
	Shard string
	// LastFailed runs only what failed in the report that is in ReportDir.
	LastFailed bool
}

// Effort is how they run: with which programs, how often and how long.
type Effort struct {
	// Python is the interpreter of the environment with the frameworks.
	Python string
	// Under are the words before the command of each process that calls, empty without a sanitizer. Sanitizer is its name.
	Under     []string
	Sanitizer string
	// Native is the command that runs native.Serve with the argument that is appended; empty leaves that caller out.
	Native []string
	// Stale returns the generated files of the project that are out of date; nil leaves that check out.
	Stale func(context.Context) ([]string, error)
	// Build brings the library up to date. It is called once, when the rest of the options is known to be right; nil leaves the
	// library as it is.
	Build func(context.Context) error
	// Random is the number of random calls for each op, RandomTotal that for all ops together, which goes first; zero stands
	// for a few.
	Random, RandomTotal int
	// WarmUp is how many plain calls come before each check, with the same arguments.
	WarmUp int
	// Seed makes the random inputs; zero stands for the fixed one.
	Seed uint64
	// Timeout is how long a plain call may take; zero stands for worker.CallLimit.
	Timeout time.Duration
	// Jobs is the number of processes that share the run; more than one need Command, the command line of this run, to which
	// flags are appended.
	Jobs    int
	Command []string
	// Job is the file of the part that this process runs of such a run.
	Job string
}

// Output is what is said of them, and where.
type Output struct {
	// Out gets progress, failures and the closing summary; Verbose adds a line per check.
	Out     io.Writer
	Verbose bool
	// Progress says that Out is a terminal, on which a line can be redrawn.
	Progress bool
	// ReportDir gets report.json, junit.xml, index.html and the failing cases; empty writes none.
	ReportDir string
	// T is told about failures in a Go test; nil outside of one.
	T interface{ Fail() }
}

// Callable is a Python function that does what an op says: a kernel that exists already, or a framework's own function.
type Callable struct {
	Adaptor, Op string
	// Target is "package.module:function" or "path/to/file.py:function".
	Target string
}

// ErrNotBuilt means that the library under test does not exist.
var ErrNotBuilt = errors.New("the library is not built")

// ErrUnknown means that the options name an op or adaptor that the project does not have.
var ErrUnknown = errors.New("unknown name")

// ErrUsage means that the options choose nothing, so that a run would prove nothing.
var ErrUsage = errors.New("nothing is chosen")

// ErrInput means that a file which the options name cannot be used.
var ErrInput = errors.New("wrong file")

// ErrUnwritten means that the report could not be written, such as on a disk that is full.
var ErrUnwritten = errors.New("the report is missing or old")

// ErrMissing means that an adaptor which the options name cannot be used on this machine.
var ErrMissing = errors.New("cannot be tested here")

// Run tests the collection of a project. The summary counts results; an error means that the suite could not run, or that
// the context ended before all had run, which is ErrInterrupted. Ginkgo allows one run per process.
func Run(ctx context.Context, o Options) (report.Summary, error) {
	p, err := plan(o)
	if err != nil {
		return report.Summary{}, err
	}
	out := newPublisher(o, p)
	defer out.printer.Stop()
	if o.Jobs > 1 && p.job == nil {
		return runJobs(ctx, p, out)
	}
	defer debug.SetGCPercent(collectLess())
	return withPool(p.foreign, out, func(pool *Pool) (report.Summary, error) {
		pool.attempts = startAttempts
		r, err := pool.open(ctx, p)
		if err != nil {
			return report.Summary{}, err
		}
		out.begin()
		tree(ctx, p.Cells, r.Env.Device, func(c *Cell, one *check.Check) []report.Result {
			out.began(c, one)
			results := unlessInterrupted(ctx, func() []report.Result { return r.run(ctx, c.Op, pool.caller(c.Caller), one) })
			if ctx.Err() == nil {
				out.record(results)
				out.printer.Finished(results)
			}
			return results
		})
		runGinkgo(o)
		out.fillHoles(ctx)
		return out.publish(pool.describe(r.Env))
	})
}

// collectLess has garbage collected less often, and returns how often it was before. Most of what a check allocates is garbage after one
// call: at Go's usual pace, collecting it takes a fifth of the run. Who has set another pace keeps it.
func collectLess() (before int) {
	const usual, less = 100, 400
	if before = debug.SetGCPercent(less); before != usual {
		debug.SetGCPercent(before)
	}
	return before
}

// withPool has a body use processes, and ends them.
func withPool(f *check.ForeignCode, out *publisher, body func(*Pool) (report.Summary, error)) (report.Summary, error) {
	pool := NewPool(out.options)
	pool.foreign, pool.say = f, out.printer.Line
	summary, err := body(pool)
	if out.interrupted != nil {
		pool.Kill()
		pool.abandon()
	}
	return summary, errors.Join(err, pool.Close(), out.ending())
}

// startAttempts is how often in a row the process of a caller may end while it starts, before its other checks are skipped.
const startAttempts = 3

// askedOnce keeps the answer for the checks of all ops: to generate all files takes seconds where there are many.
func askedOnce(stale func(context.Context) ([]string, error)) func(context.Context) ([]string, error) {
	if stale == nil {
		return nil
	}
	var once sync.Once
	var files []string
	var err error
	return func(ctx context.Context) ([]string, error) {
		once.Do(func() { files, err = stale(ctx) })
		return files, err
	}
}

// randomCalls is the number of random calls for each op.
func (o *Options) randomCalls() int {
	ops := max(cmp.Or(len(o.Ops), len(o.Project.Ops)), 1)
	return cmp.Or((o.RandomTotal+ops-1)/ops, o.Random, random.CallsPerOp)
}

// device is the name of the device under test in messages.
func (o *Options) device() string {
	if o.Device == "" || o.Device == "cpu" {
		return "cpu"
	}
	return o.Device + ":0"
}
