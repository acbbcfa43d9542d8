package conformance

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

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
)

// specDeadline bounds one check of one op through one adaptor. Its calls have deadlines of their own.
const specDeadline = 5 * time.Minute

// specs makes the Ginkgo tree: op, adaptor, check. Failures point at the definition.
func (s *session) specs() {
	for from := 0; from < len(s.cells); {
		op := s.cells[from].op
		to := from
		for to < len(s.cells) && s.cells[to].op == op {
			to++
		}
		part := s.cells[from:to] // Ginkgo makes the tree later, when from is another one
		at := types.NewCustomCodeLocation(fmt.Sprintf("%s:1", op.File))
		ginkgo.Describe(op.Name, ginkgo.Label("op:"+op.Name, "device:"+s.env.device), at, func() {
			for _, c := range part {
				s.cell(c, at)
			}
		})
		from = to
	}
}

// wantsAdaptor reports whether the options ask for a caller.
func (s *session) wantsAdaptor(name string) bool {
	return len(s.options.Adaptors) == 0 || slices.Contains(s.options.Adaptors, name)
}

// tested are the callers that the options ask for.
func (s *session) tested() []*remote {
	return slices.DeleteFunc(slices.Clone(s.remotes), func(r *remote) bool { return !s.wantsAdaptor(r.name) })
}

// cell makes the specs of one op through one caller.
func (s *session) cell(c cell, at types.CodeLocation) {
	ginkgo.Describe(c.caller.Name(), ginkgo.Label("adaptor:"+c.caller.Name()), at, func() {
		for i := range c.checks {
			check := &c.checks[i]
			labels := ginkgo.Label("group:"+strings.ReplaceAll(strings.ToLower(check.Group), " ", "-"), "profile:"+cmp.Or(check.Profile, profileCore))
			ginkgo.It(check.ID, labels, at, ginkgo.SpecTimeout(specDeadline), func(ctx ginkgo.SpecContext) {
				s.began(c, check)
				results := s.run(ctx, c.op, c.caller, c.missing, check)
				s.record(results)
				s.printer.finished(results)
				settle(results)
			})
		}
	})
}

// run runs one check and returns its results; a panic is an error of the suite.
func (s *session) run(
	ctx context.Context, op *opdef.Op, caller Caller, missing string, check *Check,
) (results []report.Result) {
	t := &T{ctx: ctx, env: &s.env, Op: op, Caller: caller, began: time.Now()}
	defer func() {
		if broken := recover(); broken != nil {
			results = t.results(check, fmt.Errorf("panic: %v\n%s", broken, debug.Stack()))
		}
	}()
	err := s.applies(op, caller, missing, check)
	if err == nil {
		err = check.Run(t)
	}
	results = t.results(check, err)
	applyKnown(s.known[caller.Name()], check, results)
	return results
}

// applies returns nil, or why a check has nothing to do: the caller is missing, the op has no kernel for its device, or the
// check says so itself.
func (s *session) applies(op *opdef.Op, caller Caller, missing string, check *Check) error {
	if missing != "" {
		return skip("%s", missing)
	}
	if err := s.env.foreign.excluded(check); err != nil {
		return err
	}
	if check.Profile == profileExtended && s.options.Profile != profileExtended {
		return skip("belongs to the extended profile")
	}
	if caller.Name() != definitionName && len(kernelsOn(op, s.env.device)) == 0 && !check.WithoutKernel {
		return skip("the op has no kernel for %s", kindOf(s.env.device))
	}
	if check.HostOnly != "" && s.env.device != "cpu" {
		return unsupported("%s", check.HostOnly)
	}
	if check.Needs == nil {
		return nil
	}
	return check.Needs(op, caller)
}

// settle gives the spec the outcome of its results.
func settle(results []report.Result) {
	if worst := worstOf(results); worst.Status == report.Skip || worst.Status == report.Unsupported {
		ginkgo.Skip(worst.Reason)
	}
	gomega.NewGomega(ginkgo.Fail).Expect(results).To(hold{})
}

// hold is the matcher of results none of which is a failure; it speaks in the words of the worst.
type hold struct{}

// Match reports whether none failed.
func (hold) Match(actual any) (bool, error) {
	results, ok := actual.([]report.Result)
	if !ok {
		return false, fmt.Errorf("hold: expected results, got %T", actual)
	}
	status := worstOf(results).Status
	return status != report.Fail && status != report.Error, nil
}

// FailureMessage is the reason of the worst result.
func (hold) FailureMessage(actual any) string {
	results, _ := actual.([]report.Result)
	return worstOf(results).Reason
}

// NegatedFailureMessage is what a spec says that expects a failure.
func (hold) NegatedFailureMessage(any) string { return "expected a failure, and all held" }

func worstOf(results []report.Result) report.Result {
	var worst report.Result
	for _, r := range results {
		if report.Worse(worst.Status, r.Status) != worst.Status {
			worst = r
		}
	}
	return worst
}

// fillHoles adds an error for every check that left no result, unless the user filtered specs.
func (s *session) fillHoles() {
	suite, _ := ginkgo.GinkgoConfiguration()
	if suite.LabelFilter != "" || len(suite.FocusStrings)+len(suite.SkipStrings)+len(suite.FocusFiles)+len(suite.SkipFiles) > 0 {
		return
	}
	holes := missingResults(s.cells, s.results)
	if len(holes) > 0 {
		s.printer.line("ERROR %d checks did not run, the first is %s, %s: %s",
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
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.FailOnEmpty = true
	if !reporter.Verbose && !reporter.VeryVerbose {
		console := formatter.ColorableStdOut
		formatter.ColorableStdOut = io.Discard
		defer func() { formatter.ColorableStdOut = console }()
	}
	ginkgo.RunSpecs(failer{o.T}, o.Project.Manifest.Name+" "+filepath.Base(o.Project.Dir), suite, reporter)
}

// failer passes failures on to a Go test, if there is one; outside, the summary tells.
type failer struct{ t interface{ Fail() } }

// Fail marks the test as failed.
func (f failer) Fail() {
	if f.t != nil {
		f.t.Fail()
	}
}

// dlpackNames maps "code,bits" to long dtype names, for the worker.
func dlpackNames() map[string]string {
	names := map[string]string{}
	for _, d := range dtype.Table {
		names[fmt.Sprintf("%d,%d", d.Code, d.Bits)] = d.Long
	}
	return names
}
