package conformance

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/report"
)

// printer shows the run: a line per op and adaptor, failures as they happen.
type printer struct {
	out     io.Writer
	verbose bool
	cell    string
	sum     report.Summary
	seconds float64
}

func (p *printer) line(format string, args ...any) {
	p.flush()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// results shows the results of one spec.
func (p *printer) results(results []report.Result) {
	for _, r := range results {
		if cell := fmt.Sprintf("%-20s %-10s", r.Op, r.Adaptor); cell != p.cell {
			p.flush()
			p.cell = cell
		}
		p.sum.Add(r.Status)
		p.seconds += r.Seconds
		failed := r.Status == report.Fail || r.Status == report.Error
		if failed {
			text := strings.ReplaceAll(r.Reason, "\n", "\n    ")
			fmt.Fprintf(p.out, "%s %s:%d: %s, %s: %s\n    %s\n",
				strings.ToUpper(string(r.Status)), r.File, r.Line, r.Op, r.Adaptor, r.Title(), text)
		} else if p.verbose {
			reason := r.Reason
			if reason != "" {
				reason = " (" + reason + ")"
			}
			fmt.Fprintf(p.out, "  %-11s %s%s\n", r.Status, r.Title(), reason)
		}
	}
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

// flush ends the line of the present op and adaptor.
func (p *printer) flush() {
	if p.cell == "" {
		return
	}
	fmt.Fprintf(p.out, "%s %-40s %6.1f s\n", p.cell, p.sum, p.seconds)
	p.cell, p.sum, p.seconds = "", report.Summary{}, 0
}
