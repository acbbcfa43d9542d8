package bench

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/opcast/opcast/internal/language/diag"
)

// Columns are the heads of the table. Ratios come first: they say something on any machine.
var Columns = []string{"op", "workload", "dtype", "caller", "threads", "ratio", "beside", "time", "spread", "GB/s", "GFLOP/s"}

// GPUColumns are the heads of the table of calls on GPUs.
var GPUColumns = []string{"op", "workload", "dtype", "caller", "ratio", "beside", "time", "spread", "GB/s", "of copy", "TFLOP/s", "of product", "host"}

// Columns are the heads of the table of the rows.
func (r *Result) Columns() []string {
	if len(r.Rows) > 0 && r.Rows[0].Device != "" {
		return GPUColumns
	}
	return Columns
}

// Cells are a row of the table. What is not known is "-".
func (r *Row) Cells() []string {
	ratio, beside := "-", "-"
	if best := r.Best(); best != nil {
		ratio, beside = fmt.Sprintf("%.2f", best.Ratio.Median), best.Name
	}
	if r.Device != "" {
		return append([]string{r.Op, r.Workload, r.DType, r.Caller, ratio, beside, Duration(r.Time.Median), r.Time.Quartiles()}, r.gpuCells()...)
	}
	return []string{
		r.Op, r.Workload, r.DType, r.Caller, fmt.Sprint(r.Threads), ratio, beside,
		Duration(r.Time.Median), r.Time.Quartiles(), known(r.Bandwidth()), known(r.Rate()),
	}
}

// gpuCells are the columns that only GPUs have: rates, their parts of what the copy and the large matrix product reach in the same
// rounds, and the time of an eager call on the host.
func (r *Row) gpuCells() []string {
	cells := []string{"-", "-", "-", "-", "-"}
	if v, ok := r.Bandwidth(); ok {
		cells[0], cells[1] = Digits(v), share(v/r.Copy.Median)
	}
	if v, ok := r.Rate(); ok {
		cells[2] = Digits(v / 1000)
		if r.Peak != nil {
			cells[3] = share(v / r.Peak.Median)
		}
	}
	if r.Host != nil {
		cells[4] = Duration(r.Host.Median)
	}
	return cells
}

func share(part float64) string { return fmt.Sprintf("%.3g %%", 100*part) }

func known(v float64, ok bool) string {
	if !ok {
		return "-"
	}
	return Digits(v)
}

// WriteTable prints the rows, and below them the copy, peers that are not counted and what was left out.
func (r *Result) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Rows) > 0 {
		fmt.Fprintln(table, strings.Join(r.Columns(), "\t"))
	}
	for i := range r.Rows {
		fmt.Fprintln(table, strings.Join(r.Rows[i].Cells(), "\t"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	for _, t := range r.Tables() {
		fmt.Fprintln(table, strings.Join(t.Columns, "\t"))
		for _, cells := range t.Rows {
			fmt.Fprintln(table, strings.Join(cells, "\t"))
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("print figures: %w", err)
		}
	}
	for _, line := range r.Notes() {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("print table: %w", err)
		}
	}
	return nil
}

// Notes are lines about what the table does not say.
func (r *Result) Notes() []string {
	var lines []string
	for _, c := range r.Copies() {
		lines = append(lines, fmt.Sprintf("a copy through memory: %s GB/s with %s", Digits(c.Speed.Median), threads(c.Threads)))
	}
	for _, row := range r.Rows {
		for _, p := range row.Peers {
			if p.Missing != "" {
				lines = append(lines, fmt.Sprintf("%v: without %s: %s", row.Key, p.Name, p.Missing))
			}
		}
	}
	for _, f := range r.Figures {
		if f.Missing != "" {
			lines = append(lines, fmt.Sprintf("not measured: %s: %s", f.Name, f.Missing))
		}
	}
	for _, l := range r.LeftOut {
		lines = append(lines, "left out: "+l.String())
	}
	return lines
}

// CopySpeed is how fast the copy through memory was with a number of threads.
type CopySpeed struct {
	Threads int
	Speed   Spread
}

// Copies are the medians over all rows, by the number of threads.
func (r *Result) Copies() []CopySpeed {
	samples := map[int][]float64{}
	var numbers []int
	for _, row := range r.Rows {
		if samples[row.Threads] == nil {
			numbers = append(numbers, row.Threads)
		}
		samples[row.Threads] = append(samples[row.Threads], row.Copy.Median)
	}
	slices.Sort(numbers)
	var out []CopySpeed
	for _, n := range numbers {
		out = append(out, CopySpeed{n, SpreadOf(samples[n])})
	}
	return out
}

// The lines of a page between which the table stands.
const (
	Begin = "<!-- bench: written by opcast bench --markdown -->"
	End   = "<!-- bench: end -->"
)

// ErrNoPlace means that a page lacks these lines.
var ErrNoPlace = errors.New("no place for the table")

// Where is a sentence about when and where it was measured.
func (r *Result) Where() string {
	day, _, _ := strings.Cut(r.Date, "T")
	text := fmt.Sprintf("On %s, %s", day, r.Machine.Hardware())
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		text += fmt.Sprintf(", %s %s", name, r.Versions[name])
	}
	return text + "."
}

// Markdown is the table of budgets, or without any that of rows and figures, with a line about the machine before it.
func (r *Result) Markdown(judged []Judgement) string {
	var b strings.Builder
	b.WriteString(r.Where() + "\n")
	for _, c := range r.Copies() {
		fmt.Fprintf(&b, "A copy through memory reaches %s GB/s with %s.\n", Digits(c.Speed.Median), threads(c.Threads))
	}
	if len(judged) > 0 {
		var cells [][]string
		for i := range judged {
			cells = append(cells, judged[i].Cells())
		}
		markdownTable(&b, BudgetColumns, cells)
		b.WriteString("\n" + Tally(judged) + ".\n")
		return b.String() // what they are about is in the file
	}
	if len(r.Rows) > 0 {
		var cells [][]string
		for i := range r.Rows {
			cells = append(cells, r.Rows[i].Cells())
		}
		markdownTable(&b, r.Columns(), cells)
	}
	for _, t := range r.Tables() {
		markdownTable(&b, t.Columns, t.Rows)
	}
	return b.String()
}

// markdownTable writes a table after an empty line.
func markdownTable(b *strings.Builder, columns []string, rows [][]string) {
	b.WriteString("\n| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, cells := range rows {
		for j := range cells {
			cells[j] = diag.Cell(cells[j])
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
}

// WriteMarkdown puts the table into a page, between the lines that are there for it.
func (r *Result) WriteMarkdown(path string, judged []Judgement) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	before, rest, found := strings.Cut(string(text), Begin+"\n")
	_, after, ended := strings.Cut(rest, End)
	if !found || !ended {
		return fmt.Errorf("write table: %w: %s lacks the lines %s and %s", ErrNoPlace, path, Begin, End)
	}
	if err := os.WriteFile(path, []byte(before+Begin+"\n"+r.Markdown(judged)+End+after), 0o644); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
