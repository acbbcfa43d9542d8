package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table is one of figures: the last words of names are the heads of columns.
type Table struct {
	Suite   string
	Columns []string
	Rows    [][]string
}

// Tables are those of the figures, one for each first word of their names.
func (r *Result) Tables() []Table {
	var out []Table
	for i := range r.Figures {
		f := &r.Figures[i]
		suite, row, column := f.words()
		at := slices.IndexFunc(out, func(t Table) bool { return t.Suite == suite })
		if at < 0 {
			at = len(out)
			out = append(out, Table{Suite: suite, Columns: []string{suite}})
		}
		out[at].set(row, column, f.cell())
	}
	for i := range out {
		out[i].fill()
	}
	return out
}

// words are the first word of a name, what stands in the middle, and the last one.
func (f *Figure) words() (first, middle, last string) {
	first, rest, found := strings.Cut(f.Name, "/")
	if !found {
		return first, "", "value"
	}
	if at := strings.LastIndex(rest, "/"); at >= 0 {
		return first, rest[:at], rest[at+1:]
	}
	return first, rest, "value"
}

// cell is the value, with quartiles if they differ. What is counted, the head of the column says.
func (f *Figure) cell() string {
	if f.Exact && f.Value != nil && f.Unit != Bytes && f.Unit != Ratio {
		return number(f.Value.Median)
	}
	if q := f.Quartiles(); q != "-" {
		return f.String() + " (" + q + ")"
	}
	return f.String()
}

func (t *Table) set(row, column, text string) {
	c := slices.Index(t.Columns, column)
	if c < 1 {
		c = len(t.Columns)
		t.Columns = append(t.Columns, column)
	}
	at := slices.IndexFunc(t.Rows, func(cells []string) bool { return cells[0] == row })
	if at < 0 {
		at = len(t.Rows)
		t.Rows = append(t.Rows, []string{row})
	}
	for len(t.Rows[at]) <= c {
		t.Rows[at] = append(t.Rows[at], "-")
	}
	t.Rows[at][c] = text
}

// fill gives every row as many cells as there are columns.
func (t *Table) fill() {
	for i := range t.Rows {
		for len(t.Rows[i]) < len(t.Columns) {
			t.Rows[i] = append(t.Rows[i], "-")
		}
	}
}

// BudgetColumns are the heads of the table of budgets.
var BudgetColumns = []string{"budget", "limit", "measured", "quartiles", "verdict"}

// Cells are a line of the table.
func (j *Judgement) Cells() []string {
	f := Figure{Value: j.Value, Unit: j.Unit}
	limit := "≥ "
	if j.AtMost != nil {
		limit = "≤ "
	}
	if j.Unit == "" {
		limit += fmt.Sprint(j.limit())
	} else {
		limit += write(j.limit(), j.Unit)
	}
	return []string{j.Text, limit, f.String(), f.Quartiles(), j.Verdict()}
}

// WriteBudgets prints the table, and how many budgets hold.
func WriteBudgets(w io.Writer, judged []Judgement) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(BudgetColumns, "\t"))
	for i := range judged {
		fmt.Fprintln(table, strings.Join(judged[i].Cells(), "\t"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print budgets: %w", err)
	}
	_, err := fmt.Fprintln(w, Tally(judged))
	return err
}

// Tally says how many budgets hold. One that was not measured as a whole does not.
func Tally(judged []Judgement) string {
	hold, missed := 0, 0
	for i := range judged {
		switch {
		case judged[i].Holds():
			hold++
		case judged[i].Misses():
			missed++
		}
	}
	return fmt.Sprintf("%d of %d budgets hold, %d are missed, %d were not measured as a whole", hold, len(judged), missed, len(judged)-hold-missed)
}
