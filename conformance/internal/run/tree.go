package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/known"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// specDeadline bounds one check of one op through one adaptor. Its calls have deadlines of their own.
const specDeadline = 5 * time.Minute

// specs makes the Ginkgo tree: op, adaptor, check. Failures point at the definition.
func (s *Session) specs(ctx context.Context) {
	for from := 0; from < len(s.cells); {
		op := s.cells[from].op
		to := from
		for to < len(s.cells) && s.cells[to].op == op {
			to++
		}
		part := s.cells[from:to] // Ginkgo makes the tree later, when from is another one
		at := types.NewCustomCodeLocation(fmt.Sprintf("%s:1", op.File))
		ginkgo.Describe(op.Name, ginkgo.Label("op:"+op.Name, "device:"+s.Env.Device), at, func() {
			for _, c := range part {
				s.cell(ctx, c, at)
			}
		})
		from = to
	}
}

// wantsAdaptor reports whether the options ask for a caller.
func (s *Session) wantsAdaptor(name string) bool {
	return len(s.Options.Adaptors) == 0 || slices.Contains(s.Options.Adaptors, name)
}

// tested are the callers that the options ask for.
func (s *Session) tested() []*worker.Process {
	return slices.DeleteFunc(slices.Clone(s.Processes), func(r *worker.Process) bool { return !s.wantsAdaptor(r.CallerName) })
}

// cell makes the specs of one op through one caller. Signals end the context of the run and, through a handler of its own,
// that of Ginkgo, in any order. Only the former counts: once it has ended, no result does.
func (s *Session) cell(run context.Context, c cell, at types.CodeLocation) {
	ginkgo.Describe(c.caller.Name(), ginkgo.Label("adaptor:"+c.caller.Name()), at, func() {
		for i := range c.checks {
			one := &c.checks[i]
			labels := ginkgo.Label("group:"+strings.ReplaceAll(strings.ToLower(one.Group), " ", "-"), "profile:"+cmp.Or(one.Profile, check.ProfileCore))
			ginkgo.It(one.ID, labels, at, ginkgo.SpecTimeout(specDeadline+endDeadline), func(ginkgo.SpecContext) {
				s.began(c, one)
				ctx, cancel := context.WithTimeout(run, specDeadline)
				defer cancel()
				results := s.run(ctx, c.op, c.caller, c.missing, one)
				if run.Err() != nil {
					ginkgo.AbortSuite("interrupted")
				}
				s.record(results)
				s.Printer.Finished(results)
				reportOutcome(results)
			})
		}
	})
}

// run runs one check and returns its results; a panic is an error of the suite.
func (s *Session) run(
	ctx context.Context, op *opdef.Op, caller calls.Caller, missing string, c *check.Check,
) (results []report.Result) {
	t := &check.T{Ctx: ctx, Env: &s.Env, Op: op, Caller: caller, Check: c.ID, Started: time.Now()}
	defer func() {
		if broken := recover(); broken != nil {
			results = t.Results(c, fmt.Errorf("panic: %v\n%s", broken, debug.Stack()))
		}
	}()
	err := s.applies(op, caller, missing, c)
	if err == nil {
		err = c.Run(t)
	}
	s.ended.note(op, caller, c, t)
	results = t.Results(c, err)
	known.Apply(s.known[caller.Name()], c, results)
	return results
}

// applies returns nil, or why a check has nothing to do: the caller is missing, the op has no kernel for its device, or the
// check says so itself.
func (s *Session) applies(op *opdef.Op, caller calls.Caller, missing string, c *check.Check) error {
	if missing != "" {
		return check.Skip("%s", missing)
	}
	if err := reasonToSkip(s.Env.Foreign, c); err != nil {
		return err
	}
	if reason := s.ended.reason(op, caller); reason != "" {
		return check.Skip("%s", reason)
	}
	if process, ok := caller.(*worker.Process); ok && process.Broken() != nil {
		return check.Skip("%s", report.FirstLine(process.Broken().Error()))
	}
	if c.Profile == check.ProfileExtended && s.Options.Profile != check.ProfileExtended {
		return check.Skip("belongs to the extended profile")
	}
	if caller.Name() != calls.DefinitionName && len(cases.KernelsOn(op, s.Env.Device)) == 0 && !c.WithoutKernel {
		return check.Skip("the op has no kernel for %s", cases.KindOf(s.Env.Device))
	}
	if c.HostOnly != "" && s.Env.Device != "cpu" {
		return check.Unsupported("%s", c.HostOnly)
	}
	if c.Needs != nil {
		if err := c.Needs(op, caller); err != nil {
			return err
		}
	}
	return s.spread.skip(op, caller, c)
}

// reportOutcome gives the spec the outcome of its results.
func reportOutcome(results []report.Result) {
	if worst := worstOf(results); worst.Status == report.Skip || worst.Status == report.Unsupported {
		ginkgo.Skip(worst.Reason)
	}
	gomega.NewGomega(ginkgo.Fail).Expect(results).To(haveNoFailure{})
}

// haveNoFailure is the matcher of results none of which is a failure; it speaks in the words of the worst.
type haveNoFailure struct{}

// Match reports whether none failed.
func (haveNoFailure) Match(actual any) (bool, error) {
	results, ok := actual.([]report.Result)
	if !ok {
		return false, fmt.Errorf("hold: expected results, got %T", actual)
	}
	status := worstOf(results).Status
	return status != report.Fail && status != report.Error, nil
}

// FailureMessage is the reason of the worst result.
func (haveNoFailure) FailureMessage(actual any) string {
	results, _ := actual.([]report.Result)
	return worstOf(results).Reason
}

// NegatedFailureMessage is what a spec says that expects a failure.
func (haveNoFailure) NegatedFailureMessage(any) string { return "expected a failure, and all held" }

func worstOf(results []report.Result) report.Result {
	var worst report.Result
	for _, r := range results {
		if report.Worse(worst.Status, r.Status) != worst.Status {
			worst = r
		}
	}
	return worst
}

// fillHoles adds an error for every check that left no result, unless the run was interrupted or the user filtered specs.
func (s *Session) fillHoles(ctx context.Context) {
	if s.interrupt(ctx) {
		return
	}
	suite, _ := ginkgo.GinkgoConfiguration()
	if suite.LabelFilter != "" || len(suite.FocusStrings)+len(suite.SkipStrings)+len(suite.FocusFiles)+len(suite.SkipFiles) > 0 {
		return
	}
	holes := missingResults(s.cells, s.results)
	if len(holes) > 0 {
		s.Printer.Line("ERROR %d checks did not run, the first is %s, %s: %s",
			len(holes), holes[0].Op, holes[0].Adaptor, holes[0].Title())
	}
	s.results = append(s.results, holes...)
}

// missingResults are errors for the checks of cells that have no result.
func missingResults(cells []cell, results []report.Result) []report.Result {
	have := map[[3]string]bool{}
	for _, r := range results {
		have[[3]string{r.Op, r.Adaptor, r.Check}] = true
	}
	var out []report.Result
	for _, c := range cells {
		for _, check := range c.checks {
			if have[[3]string{c.op.Name, c.caller.Name(), check.ID}] {
				continue
			}
			out = append(out, report.Result{
				Op: c.op.Name, Adaptor: c.caller.Name(), Group: check.Group, Check: check.ID,
				Status: report.Error, Reason: "did not run", File: c.op.File, Line: 1,
			})
		}
	}
	return out
}

// runGinkgo runs the tree. The suite prints its own progress and failures; Ginkgo's text appears only if its flags ask
// for it.
func runGinkgo(o Options) {
	suite, reporter := configuration()
	if !reporter.Verbose && !reporter.VeryVerbose {
		console := formatter.ColorableStdOut
		formatter.ColorableStdOut = io.Discard
		defer func() { formatter.ColorableStdOut = console }()
	}
	ginkgo.RunSpecs(testFailer{o.T}, o.Project.Manifest.Name+" "+filepath.Base(o.Project.Dir), suite, reporter)
}

// configuration is that of Ginkgo's flags, where there are any. Its hour for a run is no limit here: each check has its own, and a
// collection may need hours.
func configuration() (types.SuiteConfig, types.ReporterConfig) {
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.FailOnEmpty = true
	if suite.Timeout == types.NewDefaultSuiteConfig().Timeout {
		suite.Timeout = 0
	}
	return suite, reporter
}

// testFailer passes failures on to a Go test, if there is one; outside, the summary tells.
type testFailer struct{ t interface{ Fail() } }

// Fail marks the test as failed.
func (f testFailer) Fail() {
	if f.t != nil {
		f.t.Fail()
	}
}

// RunCheckOnce runs one check and tells the text of its worst result, and whether that is a failure.
func (s *Session) RunCheckOnce(ctx context.Context, op *opdef.Op, caller calls.Caller, c *check.Check) (text string, failed bool) {
	ctx, cancel := context.WithTimeout(ctx, specDeadline)
	defer cancel()
	t := &check.T{Ctx: ctx, Env: &s.Env, Op: op, Caller: caller}
	defer func() {
		if broken := recover(); broken != nil {
			text, failed = fmt.Sprintf("panic: %v\n%s", broken, debug.Stack()), true
		}
	}()
	err := s.applies(op, caller, "", c)
	if err == nil {
		err = c.Run(t)
	}
	worst := worstOf(t.Results(c, err))
	return worst.Reason, worst.Status == report.Fail || worst.Status == report.Error
}
