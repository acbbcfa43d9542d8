package bench

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/system/safefile"
)

// Files of a run in its folder.
const (
	File = "bench.json"
	Page = "index.html"
)

//go:embed page
var pageFiles embed.FS

var page = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
	"when": when, "px": func(v float64) string { return fmt.Sprintf("%.1f", v) }, "digits": Digits, "threads": threads,
}).ParseFS(pageFiles, "page/*.html.tmpl"))

// view is what the page shows.
type view struct {
	*Result
	Style    template.CSS
	Columns  []string
	Cells    [][]string
	Ratios   *dots
	Roofline *roofline
	Sweeps   []*curves
	Worse    []string
	Compared bool
	// Budgets are lines of a table.
	Budgets       [][]string
	BudgetColumns []string
	Tally         string
}

// Told is what stands beside a result: a comparison with another one, and what became of budgets. Both may be absent.
type Told struct {
	Compared *Comparison
	Judged   []Judgement
}

// HTML is one self-contained page, without scripts: budgets, plots of ratios and of rates, tables, and what was left out.
func (r *Result) HTML(told Told) ([]byte, error) {
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	v := view{
		Result: r, Style: template.CSS(style), Columns: r.Columns(), Ratios: newDots(r.Rows), Roofline: newRoofline(r), Sweeps: newCurves(r.Rows),
		Compared: told.Compared != nil, BudgetColumns: BudgetColumns,
	}
	for i := range r.Rows {
		v.Cells = append(v.Cells, r.Rows[i].Cells())
	}
	for i := range told.Judged {
		v.Budgets, v.Tally = append(v.Budgets, told.Judged[i].Cells()), Tally(told.Judged)
	}
	if told.Compared != nil {
		v.Worse = told.Compared.Lines()
	}
	var text bytes.Buffer
	if err := page.Execute(&text, v); err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	return text.Bytes(), nil
}

// WriteFiles writes the result and the page into a folder. Each file is the old one or the new one at any time.
func (r *Result) WriteFiles(dir string, told Told) error {
	text, err := r.JSON()
	if err != nil {
		return err
	}
	html, err := r.HTML(told)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder of the result: %w", err)
	}
	err = safefile.In(dir, func(root *os.Root) error {
		_, first := safefile.Write(root, File, text)
		_, second := safefile.Write(root, Page, html)
		return errors.Join(first, second)
	})
	if err != nil {
		return fmt.Errorf("result in %s: %w", dir, err)
	}
	return nil
}

// when writes a time for people; a text that is none stays.
func when(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.UTC().Format("2 January 2006, 15:04 UTC")
}

// title names a row in a plot.
func (r *Row) title() string {
	return strings.Join([]string{r.Op, r.Workload, r.DType, r.Caller, threads(r.Threads)}, " · ")
}
