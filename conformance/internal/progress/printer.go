// Package progress shows a run of the suite while it runs, on a terminal and elsewhere, and what it came to.
package progress

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/results/report"
)

// Printer shows the run: a line per op and adaptor, failures as they happen. On a terminal one line at the end, which is
// drawn again and again, stands for the former.
type Printer struct {
	Out     io.Writer
	Verbose bool

	mu      sync.Mutex
	cell    string
	sum     report.Summary
	seconds float64
	live    *liveLine
	// told are the causes of failures that were shown: another failure of the same cause says nothing new.
	told map[[2]string]bool
	// open are the specs that run, by name; watching ends the goroutine that tells which of them take long.
	open     map[string]*openSpec
	watching chan struct{}
}

// Line prints a line.
func (p *Printer) Line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	p.print(format+"\n", args...)
}

// print writes above the live line, if there is one. What definitions and functions say does not steer the terminal.
func (p *Printer) print(format string, args ...any) {
	text := diag.Plain(fmt.Sprintf(format, args...))
	if p.live != nil {
		p.live.drawn = p.live.text(time.Now())
		text = eraseLine + text + p.live.drawn
	}
	fmt.Fprint(p.Out, text)
}

// Results shows the results of one spec.
func (p *Printer) Results(results []report.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range results {
		if cell := fmt.Sprintf("%-20s %-10s", r.Op, r.Adaptor); cell != p.cell {
			p.flush()
			p.cell = cell
		}
		p.sum.Add(r.Status)
		p.seconds += r.Seconds
		if r.Status.Bad() {
			p.failure(&r)
		} else if p.Verbose {
			reason := r.Reason
			if reason != "" {
				reason = " (" + reason + ")"
			}
			p.print("  %-11s %s%s\n", r.Status, r.Title(), reason)
		}
	}
}

// failureLines is how much is shown of a failure; the report has all of it.
const failureLines = 16

// failure shows a failure, if nothing was said of its cause yet. Who asks for everything gets it.
func (p *Printer) failure(r *report.Result) {
	if p.told[r.CauseKey()] && !p.Verbose {
		return
	}
	if p.told == nil {
		p.told = map[[2]string]bool{}
	}
	p.told[r.CauseKey()] = true
	lines := strings.Split(r.Reason, "\n")
	if more := len(lines) - failureLines; more > 1 && !p.Verbose {
		lines = append(lines[:failureLines], fmt.Sprintf("… %d more lines in the report", more))
	}
	p.print("%s %s:%d: %s, %s: %s\n    %s\n",
		strings.ToUpper(string(r.Status)), r.File, r.Line, r.Op, r.Adaptor, r.Title(), strings.Join(lines, "\n    "))
}

// causesShown is how many causes a run lists.
const causesShown = 10

// causeLines lists what made results fail, each cause once.
func causeLines(causes []report.Cause) []string {
	if len(causes) == 0 {
		return nil
	}
	failed := 0
	for _, c := range causes {
		failed += c.Results
	}
	out := []string{fmt.Sprintf("\nfailed results: %d, causes: %d", failed, len(causes))}
	for _, c := range causes[:min(len(causes), causesShown)] {
		for _, line := range c.Lines() {
			out = append(out, "  "+line)
		}
	}
	if more := len(causes) - causesShown; more > 0 {
		out = append(out, fmt.Sprintf("  and %d more causes, which the report lists", more))
	}
	return out
}

// flush ends the line of the present op and adaptor. The live line has no place for it, but who asks for everything gets it.
func (p *Printer) flush() {
	if p.cell != "" && (p.live == nil || p.Verbose) {
		p.print("%s %-40s %6.1f s\n", p.cell, p.sum, p.seconds)
	}
	p.cell, p.sum, p.seconds = "", report.Summary{}, 0
}

// Closing shows what a run came to: counts by group, the worst errors, where the time went, and the counts that tools read.
func (p *Printer) Closing(r *report.Report) {
	p.Stop()
	p.Line("\n%s", strings.TrimSuffix(r.Table(), "\n"))
	for _, text := range WorstErrors(r.ULPs) {
		p.Line("%s", text)
	}
	for _, text := range slices.Concat(r.Changes.Lines(), noteLines(r.Results)) {
		p.Line("%s", text)
	}
	if len(r.Results) > 0 {
		p.Line("%s", slowest(r.Results))
	}
	if r.Seconds > 0 {
		p.Line("the run took %s", report.Duration(r.Seconds))
	}
	for _, text := range causeLines(r.Causes) {
		p.Line("%s", text)
	}
	if text := r.InterruptionText(); text != "" {
		p.Line("%s", text)
	}
	p.Line("%s", r.Summary())
}

// notesShown is how many notes a run lists.
const notesShown = 5

// noteLines are what checks of definitions could not show, though nothing failed: such as a condition that no call breaks.
func noteLines(results []report.Result) (lines []string) {
	for _, r := range results {
		if r.Adaptor == calls.DefinitionName && r.Status == report.Pass && r.Reason != "" {
			lines = append(lines, fmt.Sprintf("note: %s: %s", r.Op, r.Reason))
		}
	}
	if more := len(lines) - notesShown; more > 0 {
		lines = append(lines[:notesShown], fmt.Sprintf("and %d more notes, which the report lists", more))
	}
	return lines
}

// slowest tells how long the checks took together, and which of them took most.
func slowest(results []report.Result) string {
	total, by := 0.0, map[string]float64{}
	for _, r := range results {
		total += r.Seconds
		by[r.Adaptor+" "+r.Check] += r.Seconds
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, name := range names[:min(len(names), 5)] {
		parts = append(parts, fmt.Sprintf("%s %.0f s", name, by[name]))
	}
	return fmt.Sprintf("checks took %.0f s: %s, …", total, strings.Join(parts, ", "))
}

// RandomLine says what random calls of all ops came to; empty where there were none.
func RandomLine(list []report.Random) string {
	var sum calls.RandomTally
	live, resident := int64(0), int64(0)
	for _, r := range list {
		sum.Add(&calls.RandomTally{Calls: r.Calls, Reached: r.Reached, Raised: r.Raised})
		live, resident = live+r.Live, resident+r.Resident
	}
	if sum.Calls == 0 {
		return ""
	}
	var classes []string
	for _, class := range slices.Sorted(maps.Keys(sum.Raised)) {
		classes = append(classes, fmt.Sprintf("%s %d", class, sum.Raised[class]))
	}
	return fmt.Sprintf("random calls: %d, %.1f %% reached a kernel; %s; memory grew by %d bytes of malloc, %d resident",
		sum.Calls, 100*float64(sum.Reached)/float64(sum.Calls), strings.Join(classes, ", "), live, resident)
}

// worstShown is how many of the worst errors a run prints.
const worstShown = 3

// WorstErrors tells which results came closest to their tolerances, one of each op.
func WorstErrors(all []report.ULPs) []string {
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b report.ULPs) int { return cmp.Compare(b.Share, a.Share) })
	var out []string
	seen := map[string]bool{}
	for _, u := range sorted {
		if seen[u.Op] || len(out) == worstShown {
			continue
		}
		seen[u.Op] = true
		with := strings.Join(slices.DeleteFunc([]string{u.Kernel, u.DType}, func(s string) bool { return s == "" }), ", ")
		out = append(out, fmt.Sprintf("error of %s, %s (%s): %.3g ulp, %.3g %% of the allowed %s: %s%s is %s for %s",
			u.Op, u.Adaptor, with, u.Worst, 100*u.Share, u.Allowed, u.Output, rule.List(u.Index), u.Got, u.Want))
	}
	return out
}
