package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

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
