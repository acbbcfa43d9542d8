package mutants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/results/report"
)

// kindCount counts the mutants of one kind, which is its name, in one layer.
type kindCount struct {
	layer string
	report.MutantCounts
}

// kindCounts counts verdicts by layer and kind, in their order.
func kindCounts(mutants []report.Mutant) []kindCount {
	var out []kindCount
	total := kindCount{layer: "all"}
	for _, v := range mutants {
		layer := layerOfID(v.ID)
		i := slices.IndexFunc(out, func(t kindCount) bool { return t.layer == layer && t.Name == v.Kind })
		if i < 0 {
			i = len(out)
			out = append(out, kindCount{layer, report.MutantCounts{Name: v.Kind}})
		}
		out[i].Add(&v)
		total.Add(&v)
	}
	slices.SortStableFunc(out, func(a, b kindCount) int { return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.Name, b.Name)) })
	return append(out, total)
}

func layerOfID(id string) string { return strings.Split(id, "/")[1] }

// table is the closing table of a run.
func table(mutants []report.Mutant) string {
	var b strings.Builder
	row := func(cells ...any) { fmt.Fprintf(&b, "%-8s %-24s %6v %7v %9v %11v %12v %9v\n", cells...) }
	row("layer", "kind", "made", "killed", "expected", "equivalent", "unsupported", "survived")
	for _, t := range kindCounts(mutants) {
		row(t.layer, t.Name, t.Made, t.Killed, t.Expected, t.Equivalent, t.Unsupported, t.Survived)
	}
	return b.String()
}

// finish shows the table of this run, and writes the report and the page, which keep the verdicts of runs before about
// mutants that this one left out.
func (m *Runner) finish(ctx context.Context) error {
	took := time.Since(m.began)
	slices.SortStableFunc(m.verdicts, byID)
	m.logf("%s%d mutants in %v", table(m.verdicts), len(m.verdicts), took.Round(time.Second))
	if n := int(m.planned.Load()) - len(m.verdicts); n > 0 {
		m.logf("stopped before %d more", n)
	}
	if m.options.ReportDir == "" {
		return m.unresolved()
	}
	r := &report.Report{
		Schema: report.Schema, SuiteVersion: check.Version, Collection: m.options.Project.Manifest.Name, Device: "cpu",
		Adaptors: map[string]string{}, Started: m.began.UTC().Format(time.RFC3339), Seconds: took.Seconds(),
		Mutants: slices.Concat(m.verdicts, m.earlierVerdicts()),
	}
	slices.SortStableFunc(r.Mutants, byID)
	if ctx.Err() != nil {
		r.Interrupted = &report.Interruption{Reason: context.Cause(ctx).Error(), NotRun: int(m.planned.Load()) - len(m.verdicts)}
	}
	if err := r.WriteFiles(m.options.ReportDir); err != nil {
		return err
	}
	if m.options.Markdown != "" && r.Interrupted == nil {
		if err := WriteTable(m.options.Markdown, Markdown(r.Mutants, m.began)); err != nil {
			return err
		}
	}
	return m.unresolved()
}

func byID(a, b report.Mutant) int { return cmp.Compare(a.ID, b.ID) }

// earlierVerdicts are the verdicts in the report of the last run about mutants that this run has not judged.
func (m *Runner) earlierVerdicts() []report.Mutant {
	if m.complete() {
		return nil
	}
	last, err := report.Read(filepath.Join(m.options.ReportDir, "report.json"))
	if err != nil || last.SuiteVersion != check.Version {
		return nil // there is none, or it is about other checks
	}
	return slices.DeleteFunc(last.Mutants, func(old report.Mutant) bool {
		return slices.ContainsFunc(m.verdicts, func(v report.Mutant) bool { return v.ID == old.ID })
	})
}

// complete reports whether the run left nothing out.
func (m *Runner) complete() bool {
	o := m.options
	return len(o.Ops)+len(o.Adaptors)+len(o.Mutants) == 0 && int(m.planned.Load()) == len(m.verdicts)
}

// unresolved is the error of a run with survivors, or of a list that is out of date.
func (m *Runner) unresolved() error {
	if err := m.unusedEntries(); m.complete() && err != nil {
		return err
	}
	if n := kindCounts(m.verdicts); n[len(n)-1].Survived > 0 {
		return fmt.Errorf("%w: %d of %d", ErrSurvived, n[len(n)-1].Survived, len(m.verdicts))
	}
	return nil
}

// TableMark is the line of a page behind which the table of the last run stands.
const TableMark = "<!-- What follows is written by `opcast mutants --markdown`. -->\n"

// WriteTable puts a table into a page; what stands before the mark stays.
func WriteTable(path, table string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("table of mutants: %w", err)
	}
	head, _, marked := strings.Cut(string(old), TableMark)
	if !marked && head != "" {
		return fmt.Errorf("table of mutants: %s has no line %q", path, strings.TrimSpace(TableMark))
	}
	if err := os.WriteFile(path, []byte(head+TableMark+"\n"+table), 0o644); err != nil {
		return fmt.Errorf("table of mutants: %w", err)
	}
	return nil
}

// Markdown is the page of the verdicts: the table, then what was not killed, with its reason.
func Markdown(mutants []report.Mutant, at time.Time) string {
	var b strings.Builder
	seconds := 0.0
	for _, v := range mutants {
		seconds += v.Seconds
	}
	fmt.Fprintf(&b, "State of %s: %d mutants, whose checks took %v.\n\n", at.UTC().Format("2 January 2006"), len(mutants),
		time.Duration(seconds*float64(time.Second)).Round(time.Second))
	b.WriteString("| layer | kind | made | killed | by an expected check | equivalent | unsupported | survived |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|\n")
	for _, t := range kindCounts(mutants) {
		name := "| " + t.layer + " | " + t.Name
		if t.Name == "" {
			name = "| **all** |"
		}
		fmt.Fprintf(&b, "%s | %d | %d | %d | %d | %d | %d |\n", name, t.Made, t.Killed, t.Expected, t.Equivalent, t.Unsupported, t.Survived)
	}
	for _, list := range []struct{ verdict, head string }{
		{report.Equivalent, "Equivalent mutants"}, {report.Survived, "Survivors"},
	} {
		unkilledLines(&b, list.head, slices.DeleteFunc(slices.Clone(mutants), func(v report.Mutant) bool { return v.Verdict != list.verdict }))
	}
	return b.String()
}

// unkilledLines shows mutants and why they were not killed.
func unkilledLines(b *strings.Builder, head string, mutants []report.Mutant) {
	if len(mutants) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n| mutant | change | reason |\n|---|---|---|\n", head)
	cell := strings.NewReplacer("|", "\\|", "\n", " ", "`", "'")
	for _, v := range mutants {
		fmt.Fprintf(b, "| %s | `%s` | %s |\n", v.ID, cell.Replace(v.Change), cell.Replace(v.Reason))
	}
}
