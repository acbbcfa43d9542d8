package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/results/report"
)

// tree makes the Ginkgo specs: op, adaptor, check. Failures point at the definition. Signals end the context of the run and,
// through a handler of its own, that of Ginkgo, in any order. Only the former counts: once it has ended, no result does.
func tree(ctx context.Context, cells []Cell, device string, run func(*Cell, *check.Check) []report.Result) {
	for len(cells) > 0 {
		op, count := cells[0].Op, 1
		for count < len(cells) && cells[count].Op == op {
			count++
		}
		part := cells[:count]
		cells = cells[count:]
		at := types.NewCustomCodeLocation(fmt.Sprintf("%s:1", op.File))
		ginkgo.Describe(op.Name, ginkgo.Label("op:"+op.Name, "device:"+device), at, func() {
			for i := range part {
				cell(&part[i], at, func(one *check.Check) {
					results := run(&part[i], one)
					if ctx.Err() != nil {
						ginkgo.AbortSuite("interrupted")
					}
					reportOutcome(results)
				})
			}
		})
	}
}

// unlessInterrupted returns the results of a check. With the context end its calls, and so the check; one that searches for
// sizes, for example, does not look, and is left alone: nobody should wait for the summary.
func unlessInterrupted(ctx context.Context, body func() []report.Result) []report.Result {
	done := make(chan []report.Result, 1)
	go func() { done <- body() }()
	select {
	case results := <-done:
		return results
	case <-ctx.Done():
	}
	select {
	case results := <-done:
		return results
	case <-time.After(time.Second):
		return nil
	}
}

// cell makes the specs of one op through one caller.
func cell(c *Cell, at types.CodeLocation, body func(*check.Check)) {
	ginkgo.Describe(c.Caller, ginkgo.Label("adaptor:"+c.Caller), at, func() {
		for i := range c.Checks {
			one := &c.Checks[i]
			labels := ginkgo.Label("group:"+strings.ReplaceAll(strings.ToLower(one.Group), " ", "-"), "profile:"+cmp.Or(one.Profile, check.ProfileCore))
			ginkgo.It(one.ID, labels, at, ginkgo.SpecTimeout(specDeadline+endDeadline), func(ginkgo.SpecContext) { body(one) })
		}
	})
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

// isFiltered reports whether the user chose specs by Ginkgo's flags.
func isFiltered() bool {
	suite, _ := ginkgo.GinkgoConfiguration()
	return suite.LabelFilter != "" || len(suite.FocusStrings)+len(suite.SkipStrings)+len(suite.FocusFiles)+len(suite.SkipFiles) > 0
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
