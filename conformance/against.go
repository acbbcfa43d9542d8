package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
)

// againstCheck compares an op with a function that exists already. The reference judges both; only the op can fail.
var againstCheck = Check{ID: "against", Group: groupAcross, Doc: "an existing kernel computes the same"}

// labelled is a caller under another name: theirs beside ours.
type labelled struct {
	*remote
	label string
}

func (l labelled) Name() string { return l.label }

// contest is an op and the function that it is compared with.
type contest struct {
	op     *opdef.Op
	ours   *remote
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
	// Device is "cpu", which is also meant by nothing, or "cuda".
	Device string
	// Seed makes the random inputs; zero stands for the fixed one.
	Seed uint64
	// Out gets the errors and times side by side; Verbose adds a line per result.
	Out     io.Writer
	Verbose bool
	// ReportDir gets report.json, junit.xml and index.html; empty writes none.
	ReportDir string
}

// Compare calls ops of the built collection and existing functions with the same arrays, and compares both in values and
// time. The summary counts failures of ops only; an error means that the comparison could not be made.
func Compare(ctx context.Context, o CompareOptions) (report.Summary, error) {
	s, _, err := newSession(Options{
		Project: o.Project, Python: o.Python, Device: o.Device, Seed: o.Seed, Out: o.Out, Verbose: o.Verbose, ReportDir: o.ReportDir,
	})
	if err != nil {
		return report.Summary{}, err
	}
	defer s.printer.stop()
	summary, err := s.compare(ctx, o.Functions)
	return summary, errors.Join(err, s.close())
}

// compare compares ops with functions, in values and time.
func (s *session) compare(ctx context.Context, functions []Callable) (report.Summary, error) {
	theirs, err := newForeign(Options{Project: s.options.Project, Callables: functions})
	if err != nil {
		return report.Summary{}, err
	}
	adaptors := slices.Sorted(maps.Keys(theirs.functions))
	if err := s.open(ctx, adaptors); err != nil {
		return report.Summary{}, err
	}
	var list []contest
	s.cells = nil // the checks that were chosen do not run
	for _, name := range adaptors {
		both, err := s.contests(ctx, theirs, functions, name)
		if err != nil {
			return report.Summary{}, err
		}
		list = append(list, both...)
	}
	for i := range list {
		c := &list[i]
		s.cells = append(s.cells, cell{op: c.op, caller: c.ours, checks: []Check{againstCheck}})
		s.printer.line("%s of %s against %s", c.op.Name, c.ours.name, c.theirs.label)
		if err := s.compete(ctx, c); err != nil {
			return report.Summary{}, err
		}
	}
	return s.publish()
}

// contests starts a second worker of an adaptor, with the functions: the first has the package of the collection.
func (s *session) contests(ctx context.Context, theirs *foreign, functions []Callable, name string) ([]contest, error) {
	ours := s.remotes[slices.IndexFunc(s.remotes, func(r *remote) bool { return r.name == name })]
	if ours.Missing != "" {
		return nil, fmt.Errorf("%s %w: %s", name, ErrMissing, ours.Missing)
	}
	config := s.workerConfig(name, name)
	config.Callables = theirs.functions[name]
	config.Paths = append(theirs.paths(s.options.Project), config.Paths...)
	w, err := s.workerWith(config)
	if err != nil {
		return nil, err
	}
	other := &remote{name: name, worker: w}
	if err := other.start(ctx); err != nil {
		return nil, err
	}
	if other.Missing != "" {
		return nil, fmt.Errorf("%s %w: %s", name, ErrMissing, other.Missing)
	}
	var list []contest
	for _, c := range functions {
		if c.Adaptor == name {
			at := slices.IndexFunc(s.options.Project.Ops, func(op *opdef.Op) bool { return op.Name == c.Op })
			list = append(list, contest{
				op: s.options.Project.Ops[at], ours: ours, theirs: labelled{other, name + " " + c.Target},
				target: theirs.functions[name][c.Op],
			})
		}
	}
	return list, nil
}

// compete calls both with every choice of dtypes.
func (s *session) compete(ctx context.Context, c *contest) error {
	ours, theirs := &T{ctx: ctx, env: &s.env, Op: c.op, Caller: c.ours}, &T{ctx: ctx, env: &s.env, Op: c.op, Caller: c.theirs}
	for _, d := range combinations(c.op, s.env.device) {
		ours.Row("", d.String())
		theirs.Row("", d.String())
		for _, p := range append(valuePlans(c.op, d), largePlan(c.op, d)) {
			made, err := ours.sampledCase(p)
			if err != nil {
				continue
			}
			if err := proceed(s.competeOn(ours, theirs, c, made)); err != nil {
				return err
			}
		}
	}
	s.record(ours.results(&againstCheck, nil))
	told := theirs.results(&againstCheck, nil)
	pardon(told)
	s.record(told)
	s.standings(c, told)
	return nil
}

// pardon turns failures of theirs into skips that say what failed: they are a reason to migrate, not one to fail, and no pass.
func pardon(results []report.Result) {
	for i, r := range results {
		if r.Status == report.Fail {
			results[i].Status, results[i].Reason = report.Skip, "theirs, which does not count: "+r.Reason
		}
	}
}

// competeOn makes one call with both, compares the results and takes the time. Whatever becomes of theirs, ours is judged.
func (s *session) competeOn(ours, theirs *T, c *contest, made *Case) error {
	call, mine, err := ours.right(ours.Caller, made)
	if err != nil {
		return err
	}
	if err := ours.matches(call, made, mine); err != nil {
		return err
	}
	_, other, err := theirs.right(theirs.Caller, made)
	if err != nil {
		return err
	}
	if err := theirs.matches(call, made, other); err != nil {
		return err
	}
	return s.time(ours.ctx, c, made)
}

// largePlan has arrays that are worth measuring: as large as the definition and the reference allow.
func largePlan(op *opdef.Op, d dtypes) plan {
	for size := int64(1024); size > 16; size /= 2 {
		p := plan{name: "large", dtypes: d, batch: []int64{size}, sizes: map[string]int64{}, unbounded: true, hollow: true}
		for _, symbol := range symbols(op) {
			p.sizes[symbol] = size
		}
		c, err := newCase(op, p)
		if err != nil || c.elements() > maxLarge {
			continue
		}
		p.hollow = false
		return p
	}
	return base(d)
}

// maxLarge bounds the elements of all arguments of a call that is measured.
const maxLarge = 1 << 22

// elements is how many elements all inputs have.
func (c *Case) elements() int64 {
	sum := int64(0)
	for _, in := range c.Inputs {
		if in != nil {
			sum += in.Len()
		}
	}
	return sum
}

// time measures both on the arrays of a case, in one process.
func (s *session) time(ctx context.Context, c *contest, made *Case) error {
	wire, blobs := publicCall(newCall(made))
	request := struct {
		wireCall
		Do     string `json:"do"`
		Target string `json:"target"`
	}{wire, "time", c.target}
	m, err := c.ours.worker.Call(ctx, request, blobs)
	if err != nil {
		return err
	}
	var answer struct {
		Unsupported  string
		Error        *CallError
		Ours, Theirs float64
	}
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return fmt.Errorf("read times: %w", err)
	}
	if answer.Unsupported != "" || answer.Error != nil {
		s.printer.line("note: %s: not measured: %s%v", made.Name, answer.Unsupported, answer.Error)
		return nil
	}
	s.timings = append(s.timings, report.Timing{
		Op: c.op.Name, Adaptor: c.theirs.label, Case: made.Name,
		Ours: answer.Ours, Theirs: answer.Theirs, Ratio: answer.Ours / answer.Theirs,
	})
	return nil
}

// standings prints errors and times side by side, after what became of theirs where it is no result within the tolerance.
func (s *session) standings(c *contest, theirs []report.Result) {
	for _, r := range theirs {
		if r.Reason != "" {
			s.printer.line("%s: %s", r.DType, r.Reason)
		}
	}
	s.printer.line("\nlargest error in ulp of the float64 reference%28s%10s%10s", "ours", "theirs", "allowed")
	ulps := s.env.ulps.results()
	for _, u := range ulps {
		if u.Op != c.op.Name || u.Adaptor != c.ours.name {
			continue
		}
		for _, other := range ulps {
			if other.Op == u.Op && other.Adaptor == c.theirs.label && other.Output == u.Output && other.DType == u.DType {
				s.printer.line("  %-60s%10.3g%10.3g  %s", u.Output+", "+u.DType, u.Worst, other.Worst, u.Allowed)
			}
		}
	}
	s.printer.line("\ntime of a call in microseconds%43s%10s%10s", "ours", "theirs", "ratio")
	for _, t := range s.timings {
		if t.Op == c.op.Name && t.Adaptor == c.theirs.label {
			s.printer.line("  %-60s%10.1f%10.1f%10.2f", t.Case, t.Ours, t.Theirs, t.Ratio)
		}
	}
	s.printer.line("")
}
