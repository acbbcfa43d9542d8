package conformance

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/opcast/opcast/internal/report"
)

// printer shows the run: a line per op and adaptor, failures as they happen. On a terminal one line at the end, which is
// drawn again and again, stands for the former.
type printer struct {
	out     io.Writer
	verbose bool

	mu      sync.Mutex
	cell    string
	sum     report.Summary
	seconds float64
	live    *liveLine
}

func (p *printer) line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	p.print(format+"\n", args...)
}

// print writes above the live line, if there is one. What definitions and functions say does not steer the terminal.
func (p *printer) print(format string, args ...any) {
	text := report.Plain(fmt.Sprintf(format, args...))
	if p.live != nil {
		p.live.drawn = p.live.text(time.Now())
		text = eraseLine + text + p.live.drawn
	}
	fmt.Fprint(p.out, text)
}

// results shows the results of one spec.
func (p *printer) results(results []report.Result) {
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
			text := strings.ReplaceAll(r.Reason, "\n", "\n    ")
			p.print("%s %s:%d: %s, %s: %s\n    %s\n",
				strings.ToUpper(string(r.Status)), r.File, r.Line, r.Op, r.Adaptor, r.Title(), text)
		} else if p.verbose {
			reason := r.Reason
			if reason != "" {
				reason = " (" + reason + ")"
			}
			p.print("  %-11s %s%s\n", r.Status, r.Title(), reason)
		}
	}
}

// flush ends the line of the present op and adaptor. The live line has no place for it, but who asks for everything gets it.
func (p *printer) flush() {
	if p.cell != "" && (p.live == nil || p.verbose) {
		p.print("%s %-40s %6.1f s\n", p.cell, p.sum, p.seconds)
	}
	p.cell, p.sum, p.seconds = "", report.Summary{}, 0
}

// closing shows what a run came to: counts by group, the worst errors, where the time went, and the counts that tools read.
func (p *printer) closing(r *report.Report) {
	p.stop()
	p.line("\n%s", strings.TrimSuffix(r.Table(), "\n"))
	for _, text := range worstErrors(r.ULPs) {
		p.line("%s", text)
	}
	for _, text := range r.Changes.Lines() {
		p.line("%s", text)
	}
	p.line("%s", slowest(r.Results))
	if r.Seconds > 0 {
		p.line("the run took %s", report.Duration(r.Seconds))
	}
	p.line("%s", r.Summary())
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
