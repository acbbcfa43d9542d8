package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/progress"
	"github.com/opcast/opcast/internal/results/report"
)

// publisher shows results as they come, and reports them in the end.
type publisher struct {
	options Options
	cells   []Cell
	printer *progress.Printer
	started time.Time
	// job is where a process with a part of the run tells what comes of it; nil outside of one.
	job *job

	mu      sync.Mutex
	results []report.Result
	// notes are lines that jobs told; timings compare with existing kernels.
	notes   []string
	timings []report.Timing
	// interrupted says that the run was stopped; nil where it was not.
	interrupted *report.Interruption
}

func newPublisher(o Options, p *Plan) *publisher {
	out := &publisher{options: o, cells: p.Cells, job: p.job, started: time.Now(), printer: &progress.Printer{Out: o.Out, Verbose: o.Verbose}}
	if p.job != nil {
		out.printer.Out = p.job
	}
	return out
}

// begin draws the live line from now on, where there is a terminal. Elsewhere, it tells which specs take long.
func (p *publisher) begin() {
	switch {
	case p.job != nil: // the process that started it does
	case p.options.Progress:
		p.printer.Start(len(patternsOf(p.cells)), p.started)
	default:
		p.printer.Watch()
	}
}

// began says which spec runs now. A job tells the process that has the terminal.
func (p *publisher) began(c *Cell, current *check.Check) {
	spec := progress.SpecName(c.Op.Name, c.Caller, current.ID)
	if p.job != nil {
		p.job.send(jobMessage{Spec: spec})
	}
	p.printer.Running(spec)
}

// record keeps the results of a spec and shows them.
func (p *publisher) record(results []report.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results = append(p.results, results...)
	if p.job != nil {
		p.job.send(jobMessage{Results: results})
		return
	}
	p.printer.Results(results)
}

// fillHoles adds an error for every check that left no result, unless the run was interrupted or the user filtered specs.
func (p *publisher) fillHoles(ctx context.Context) {
	if p.interrupt(ctx) || isFiltered() {
		return
	}
	holes := missingResults(p.cells, p.results)
	if len(holes) > 0 {
		p.printer.Line("ERROR %d checks did not run, the first is %s, %s: %s",
			len(holes), holes[0].Op, holes[0].Adaptor, holes[0].Title())
	}
	p.results = append(p.results, holes...)
}

// missingResults are errors for the checks of cells that have no result.
func missingResults(cells []Cell, results []report.Result) []report.Result {
	have := map[pattern]bool{}
	for _, r := range results {
		have[pattern{r.Op, r.Adaptor, r.Check}] = true
	}
	var out []report.Result
	for c, one := range specs(cells) {
		if !have[pattern{c.Op.Name, c.Caller, one.ID}] {
			out = append(out, report.Result{
				Op: c.Op.Name, Adaptor: c.Caller, Group: one.Group, Check: one.ID,
				Status: report.Error, Reason: "did not run", File: c.Op.File, Line: 1,
			})
		}
	}
	return out
}

// ErrInterrupted means that the context ended before all checks had run. The report has what was complete by then.
var ErrInterrupted = errors.New("interrupted")

// interrupt notes that the run was stopped, if it was, and how many checks did not run. What was cut off has no result:
// it is neither a failure nor a hole. A run that was stopped when everything had run was not interrupted.
func (p *publisher) interrupt(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	if missing := len(missingResults(p.cells, p.results)); missing > 0 {
		p.interrupted = &report.Interruption{Reason: context.Cause(ctx).Error(), NotRun: missing}
	}
	return p.interrupted != nil
}

// ending is the error of a run that was interrupted.
func (p *publisher) ending() error {
	if p.interrupted == nil {
		return nil
	}
	return ErrInterrupted
}

// pend has an interrupted report keep what failed in the report that it takes the place of, as far as the run was to check
// that again. A complete run would have forgotten no less.
func (p *publisher) pend(r *report.Report) {
	old, err := report.Read(filepath.Join(p.options.ReportDir, report.File))
	if err != nil || p.job != nil {
		return // there is nothing to keep, or the process that started this one does
	}
	planned := patternsOf(p.cells)
	r.Interrupted.Pend(r, old, func(s report.Spec) bool { return slices.Contains(planned, pattern{s.Op, s.Adaptor, s.Check}) })
}

// described describes the checks of the run, in the order of the suite.
func described(cells []Cell) []report.Check {
	all, wanted := Checks(), map[string]bool{}
	for _, one := range specs(cells) {
		all, wanted[one.ID] = append(all, *one), true
	}
	var out []report.Check
	// What is in no list, such as comparisons with existing kernels, comes last.
	for _, c := range all {
		if wanted[c.ID] {
			delete(wanted, c.ID)
			out = append(out, report.Check{ID: c.ID, Group: c.Group, Profile: cmp.Or(c.Profile, check.ProfileCore), Doc: c.Doc})
		}
	}
	return out
}

// publish writes the report and the closing summary. A job only leaves its report for the process that joins them.
func (p *publisher) publish(r *report.Report, err error) (report.Summary, error) {
	if err != nil {
		return report.Summary{}, err
	}
	r.Results, r.Checks, r.Timings = p.results, described(p.cells), p.timings
	r.Started, r.Seconds = p.started.UTC().Format(time.RFC3339Nano), time.Since(p.started).Seconds()
	r.Sort()
	if r.Interrupted = p.interrupted; r.Interrupted != nil {
		p.pend(r)
	}
	var unwritten error // which is no reason to keep quiet about what was found
	if p.options.ReportDir != "" {
		if unwritten = r.WriteFiles(p.options.ReportDir); unwritten == nil && p.job == nil {
			p.printer.Line("report: %s", check.Relative(p.options.Project.Dir, filepath.Join(p.options.ReportDir, "index.html")))
		}
	}
	summary := r.Summary()
	if p.job == nil {
		if text := progress.RandomLine(r.Random); text != "" {
			p.printer.Line("%s", text)
		}
		if p.options.Profile == check.ProfileFast {
			p.printer.Line("%s", untried(Checks()))
		}
		p.printer.Closing(r)
	}
	if unwritten != nil {
		return summary, fmt.Errorf("%w: %w", ErrUnwritten, unwritten)
	}
	return summary, nil
}

// untried says what the fast profile leaves out.
func untried(checks []check.Check) string {
	tried, left := map[string]bool{}, 0
	for i := range checks {
		if checks[i].Profile == check.ProfileFast {
			tried[checks[i].Group] = true
		} else {
			left++
		}
	}
	var groups []string
	for i := range checks {
		if g := checks[i].Group; !tried[g] && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return fmt.Sprintf("the fast profile left out %d of %d checks, among them all of: %s", left, len(checks), strings.Join(groups, ", "))
}
