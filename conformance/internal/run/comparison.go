package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// comparisonCheck compares an op with a function that exists already. The reference judges both; only the op can fail.
var comparisonCheck = check.Check{ID: "against", Group: check.GroupAcross, Doc: "an existing kernel computes the same"}

// labelled is a caller under another name: theirs beside ours.
type labelled struct {
	*worker.Process
	label string
}

func (l labelled) Name() string { return l.label }

// comparison is an op and the function that it is compared with.
type comparison struct {
	op     *opdef.Op
	ours   *worker.Process
	theirs labelled
	target string
}

// CompareOptions say which ops are compared with which functions.
type CompareOptions struct {
	Project *opdef.Project
	// Python is the interpreter of the environment with the frameworks.
	Python string
	// Functions are existing functions, each of which does what its op says.
	Functions []Callable
	// Device is "cpu", which is also meant by nothing, "cuda" or "rocm".
	Device string
	// Seed makes the random inputs; zero stands for the fixed one.
	Seed uint64
	// Build is as in Options.
	Build func(context.Context) error
	// Out gets the errors and times side by side; Verbose adds a line per result.
	Out     io.Writer
	Verbose bool
	// ReportDir gets report.json, junit.xml and index.html; empty writes none.
	ReportDir string
}

// Compare calls ops of the built collection and existing functions with the same arrays, and compares both in values and
// time. The summary counts failures of ops only; an error means that the comparison could not be made.
func Compare(ctx context.Context, o CompareOptions) (report.Summary, error) {
	theirs, err := newForeign(Options{Subject: Subject{Project: o.Project, Callables: o.Functions}})
	if err != nil {
		return report.Summary{}, err
	}
	out := newPublisher(Options{
		Subject: Subject{Project: o.Project, Device: o.Device},
		Effort:  Effort{Python: o.Python, Seed: o.Seed, Build: o.Build},
		Output:  Output{Out: o.Out, Verbose: o.Verbose, ReportDir: o.ReportDir},
	}, &Plan{})
	defer out.printer.Stop()
	return withPool(nil, out, func(pool *Pool) (report.Summary, error) {
		adaptors := slices.Sorted(maps.Keys(theirs.Functions))
		r, err := pool.Open(ctx, adaptors)
		if err != nil {
			return report.Summary{}, err
		}
		var list []comparison
		for _, name := range adaptors {
			both, err := pool.compared(ctx, theirs, o.Functions, name)
			if err != nil {
				return report.Summary{}, err
			}
			list = append(list, both...)
		}
		for i := range list {
			c := &list[i]
			out.cells = append(out.cells, Cell{c.op, c.ours.CallerName, []check.Check{comparisonCheck}})
			if ctx.Err() != nil {
				continue // it only counts
			}
			out.printer.Line("%s of %s against %s", c.op.Name, c.ours.CallerName, c.theirs.label)
			if err := out.compare(ctx, r.Env, c); err != nil {
				return report.Summary{}, err
			}
		}
		out.interrupt(ctx)
		return out.publish(pool.describe(r.Env))
	})
}

// compared starts a second worker of an adaptor, with the functions: the first has the package of the collection.
func (p *Pool) compared(ctx context.Context, theirs *check.ForeignCode, functions []Callable, name string) ([]comparison, error) {
	ours, project := p.process(name), p.options.Project
	if ours.Missing != "" {
		return nil, fmt.Errorf("%s %w: %s", name, ErrMissing, ours.Missing)
	}
	config := p.config(name, name)
	config.Callables = theirs.Functions[name]
	config.Paths = append(paths(project), config.Paths...)
	w, err := p.worker(config)
	if err != nil {
		return nil, err
	}
	other := &worker.Process{CallerName: name, Worker: w}
	if err := other.Start(ctx); err != nil {
		return nil, err
	}
	if other.Missing != "" {
		return nil, fmt.Errorf("%s %w: %s", name, ErrMissing, other.Missing)
	}
	var list []comparison
	for _, c := range functions {
		if c.Adaptor == name {
			at := slices.IndexFunc(project.Ops, func(op *opdef.Op) bool { return op.Name == c.Op })
			list = append(list, comparison{
				op: cases.Tested(project.Ops[at]), ours: ours, theirs: labelled{other, name + " " + c.Target},
				target: theirs.Functions[name][c.Op],
			})
		}
	}
	return list, nil
}

// compare calls both with every choice of dtypes.
func (p *publisher) compare(ctx context.Context, env *check.Environment, c *comparison) error {
	ours, theirs := &check.T{Ctx: ctx, Env: env, Op: c.op, Caller: c.ours}, &check.T{Ctx: ctx, Env: env, Op: c.op, Caller: c.theirs}
	for _, d := range cases.SupportedDTypes(c.op, env.Device) {
		ours.StartRow("", d.String())
		theirs.StartRow("", d.String())
		for _, plan := range append(cases.ValuePlans(c.op, d), largePlan(c.op, d)) {
			made, err := ours.SampledCase(plan)
			if err != nil {
				continue
			}
			if err := check.Proceed(p.compareCase(ours, theirs, c, made)); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return nil // what was cut off has no result
	}
	p.record(ours.Results(&comparisonCheck, nil))
	told := theirs.Results(&comparisonCheck, nil)
	skipTheirFailures(told)
	p.record(told)
	p.printComparison(c, env.Errors.Results(), told)
	return nil
}

// skipTheirFailures turns failures of theirs into skips that say what failed: they are a reason to migrate, not one to fail,
// and no pass.
func skipTheirFailures(results []report.Result) {
	for i, r := range results {
		if r.Status == report.Fail {
			results[i].Status, results[i].Reason = report.Skip, "theirs, which does not count: "+r.Reason
		}
	}
}

// compareCase makes one call with both, compares the results and takes the time. Whatever becomes of theirs, ours is judged.
func (p *publisher) compareCase(ours, theirs *check.T, c *comparison, made *cases.Case) error {
	call, mine, err := ours.RunCase(ours.Caller, made)
	if err != nil {
		return err
	}
	if err := ours.ExpectReference(call, made, mine); err != nil {
		return err
	}
	_, other, err := theirs.RunCase(theirs.Caller, made)
	if err != nil {
		return err
	}
	if err := theirs.ExpectReference(call, made, other); err != nil {
		return err
	}
	return p.timeBoth(ours.Ctx, c, made)
}

// largePlan has arrays that are worth measuring: as large as the definition and the reference allow.
func largePlan(op *opdef.Op, d cases.DTypes) cases.Plan {
	for size := int64(1024); size > 16; size /= 2 {
		p := cases.Plan{Name: "large", DTypes: d, Batch: []int64{size}, Sizes: map[string]int64{}, Unbounded: true, NoData: true}
		for _, symbol := range cases.Symbols(op) {
			p.Sizes[symbol] = size
		}
		c, err := cases.New(op, p)
		if err != nil || elements(c) > maxLarge {
			continue
		}
		p.NoData = false
		return p
	}
	return cases.BasePlan(d)
}

// maxLarge bounds the elements of all arguments of a call that is measured.
const maxLarge = 1 << 22

// elements is how many elements all inputs have.
func elements(c *cases.Case) int64 {
	sum := int64(0)
	for _, in := range c.Inputs {
		if in != nil {
			sum += in.Len()
		}
	}
	return sum
}

// timeBoth measures both on the arrays of a case, in one process.
func (p *publisher) timeBoth(ctx context.Context, c *comparison, made *cases.Case) error {
	wire, blobs := calls.PublicCall(calls.New(made))
	request := struct {
		calls.WireCall
		Do     string `json:"do"`
		Target string `json:"target"`
	}{wire, "time", c.target}
	m, err := c.ours.Worker.Call(ctx, request, blobs)
	if err != nil {
		return err
	}
	var answer struct {
		Unsupported  string
		Error        *calls.CallError
		Ours, Theirs float64
	}
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return fmt.Errorf("read times: %w", err)
	}
	if answer.Unsupported != "" || answer.Error != nil {
		p.printer.Line("note: %s: not measured: %s%v", made.Name, answer.Unsupported, answer.Error)
		return nil
	}
	p.timings = append(p.timings, report.Timing{
		Op: c.op.Name, Adaptor: c.theirs.label, Case: made.Name,
		Ours: answer.Ours, Theirs: answer.Theirs, Ratio: answer.Ours / answer.Theirs,
	})
	return nil
}

// printComparison prints errors and times side by side, after what became of theirs where it is no result within the
// tolerance.
func (p *publisher) printComparison(c *comparison, ulps []report.ULPs, theirs []report.Result) {
	for _, r := range theirs {
		if r.Reason != "" {
			p.printer.Line("%s: %s", r.DType, r.Reason)
		}
	}
	p.printer.Line("\nlargest error in ulp of the float64 reference%28s%10s%10s", "ours", "theirs", "allowed")
	for _, u := range ulps {
		if u.Op != c.op.Name || u.Adaptor != c.ours.CallerName {
			continue
		}
		for _, other := range ulps {
			if other.Op == u.Op && other.Adaptor == c.theirs.label && other.Output == u.Output && other.DType == u.DType {
				p.printer.Line("  %-60s%10.3g%10.3g  %s", u.Output+", "+u.DType, u.Worst, other.Worst, u.Allowed)
			}
		}
	}
	p.printer.Line("\ntime of a call in microseconds%43s%10s%10s", "ours", "theirs", "ratio")
	for _, t := range p.timings {
		if t.Op == c.op.Name && t.Adaptor == c.theirs.label {
			p.printer.Line("  %-60s%10.1f%10.1f%10.2f", t.Case, t.Ours, t.Theirs, t.Ratio)
		}
	}
	p.printer.Line("")
}
