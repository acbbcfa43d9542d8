// Package timing measures the workloads of definitions: each op as its adaptors call it, beside the peers that its author
// names.
//
// It makes the calls, asks workers to time them, and hands on what they answer as a result of package bench.
package timing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
	"github.com/opcast/opcast/internal/results/bench"
	"github.com/opcast/opcast/internal/system/rpc"
	"github.com/opcast/opcast/internal/system/tempdir"
)

// Farthest is how far the results of a peer may lie from those of the op, as a multiple of what the definition allows those
// to be off: the root mean square over all elements of a result. Peers round in other places, and no definition knows where.
const Farthest = 4

// Options say what to measure.
type Options struct {
	Project *opdef.Project
	Python  string
	// Suites say what is measured: workloads, calls, or both.
	Suites []string
	// Command is what the result says that it comes from.
	Command string
	// Ops are those to measure; those without workloads are named in the result.
	Ops []*opdef.Op
	// Adaptors call them. One that is Wanted must be there.
	Adaptors []string
	Wanted   bool
	Device   string
	// Threads are numbers of threads, each of which has processes of its own.
	Threads []int
	// Rounds is how many samples are taken at most, and Seconds how long a row may take samples.
	Rounds  int
	Seconds float64
	// Rehearse has small arrays on the host go through all that a measurement on a GPU does. Its times mean nothing.
	Rehearse bool
	// Before holds rows of an earlier run, which are kept and not measured again; nil if there was none. Keep gets the result after
	// each row.
	Before *bench.Result
	Keep   func(*bench.Result) error
	// Environ is the environment of the workers, and Progress gets a line for each call.
	Environ  []string
	Progress io.Writer
}

// ErrMissing means that an adaptor that was asked for cannot be used here.
var ErrMissing = errors.New("cannot be used here")

// limit is how long a worker may take for one row, beside the time for samples: peers are compiled, and called once however
// slow they are.
const limit = 10 * time.Minute

// run is a run in progress.
type run struct {
	Options
	temp      *tempdir.Folder
	processes []*process
	workers   []*rpc.Worker
	samplers  map[string]cases.Sampler
	result    *bench.Result
}

// Run measures. If the context ends, the result has what was measured until then, and comes with an error.
func Run(ctx context.Context, o Options) (result *bench.Result, err error) {
	r, err := begun(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	workloads, ofCalls := slices.Contains(o.Suites, Workloads), slices.Contains(o.Suites, Calls)
	if workloads && r.measurable() == 0 {
		workloads = false
	}
	if !workloads && !ofCalls {
		return r.result, nil
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	if ofCalls {
		err = r.allCalls(ctx)
	}
	if workloads && err == nil {
		err = r.all(ctx)
	}
	return r.result, err
}

// begun is a run that nothing has started of yet. It is to be closed.
func begun(o Options) (*run, error) {
	r := &run{Options: o, result: &bench.Result{
		Schema: bench.Schema, Collection: o.Project.Manifest.Name, Version: o.Project.Manifest.Version,
		Date: time.Now().UTC().Format(time.RFC3339), Machine: Machine(o.Device), Versions: map[string]string{},
		Rows: []bench.Row{}, LeftOut: []bench.LeftOut{}, Commands: []string{o.Command},
	}}
	if before := o.Before; before != nil {
		r.result.Rows, r.result.Date = slices.Clone(before.Rows), before.Date
		r.result.Commands = append(slices.Clone(before.Commands), o.Command)
		maps.Copy(r.result.Versions, before.Versions)
	}
	var err error
	if r.temp, err = tempdir.Make("", "opcast-bench"); err != nil {
		return nil, fmt.Errorf("worker folder: %w", err)
	}
	if err := worker.WriteFiles(r.temp.Path); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// What can be measured.
const (
	Workloads = "workloads"
	Calls     = "calls"
)

// measurable notes the ops without workloads and counts the others.
func (r *run) measurable() int {
	n := 0
	for _, op := range r.Ops {
		if len(op.Workloads) > 0 {
			n++
			continue
		}
		r.result.LeftOut = append(r.result.LeftOut, bench.LeftOut{Op: op.Name, Reason: "the definition has no workloads"})
	}
	return n
}

// start brings up the oracle, which makes authors' samples, and a process for each caller and number of threads.
func (r *run) start(ctx context.Context) error {
	reference, err := r.worker(worker.Config{Caller: "reference_caller", Paths: []string{}}, nil)
	if err != nil {
		return err
	}
	judge := &oracle.Python{Worker: reference}
	r.samplers = judge.Samplers(ctx, r.Ops)
	for _, adaptor := range r.Adaptors {
		for _, threads := range r.Threads {
			missing, err := r.startProcess(ctx, adaptor, threads)
			if err != nil {
				return err
			}
			if missing != "" && r.Wanted {
				return fmt.Errorf("%s %w: %s", adaptor, ErrMissing, missing)
			}
			if missing != "" {
				r.result.LeftOut = append(r.result.LeftOut, bench.LeftOut{Caller: adaptor, Reason: missing})
				break
			}
		}
	}
	return nil
}

// all measures every workload through every process.
func (r *run) all(ctx context.Context) error {
	for _, op := range r.Ops {
		for _, w := range workload.Calls(op) {
			missing := slices.DeleteFunc(slices.Clone(r.processes), func(p *process) bool { return r.has(p, w) })
			if len(missing) == 0 {
				continue
			}
			fmt.Fprintf(r.Progress, "%s %s: %v\n", op.Name, w.Name, w)
			w, made, err := r.madeOf(w)
			if err != nil {
				r.result.LeftOut = append(r.result.LeftOut, bench.LeftOut{Op: op.Name, Workload: w.Name, Reason: err.Error()})
				continue
			}
			debug.FreeOSMemory() // of what contents were made from
			for _, p := range missing {
				fmt.Fprintf(r.Progress, "  through %s, threads: %d\n", p.adaptor, p.threads)
				if err := r.measure(ctx, p, w, made); err != nil {
					return err
				}
			}
			debug.FreeOSMemory() // or two large workloads would lie there at a time
		}
	}
	return nil
}

// has says whether an earlier run has measured a call.
func (r *run) has(p *process, w workload.Call) bool {
	return slices.ContainsFunc(r.result.Rows, func(row bench.Row) bool {
		return row.Op == baseName(w.Op) && row.Workload == w.Name && row.Caller == p.adaptor && row.Threads == p.threads
	})
}

// close ends the workers and deletes their files.
func (r *run) close() error {
	var errs []error
	for _, w := range r.workers {
		errs = append(errs, w.Close())
	}
	return errors.Join(append(errs, r.temp.Remove())...)
}
