package predict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/opcast/opcast/internal/results/bench"
)

// Table is what was predicted for the workloads of a collection.
type Table struct {
	GPU string `json:"gpu"`
	// Arch is that of the machine code that was read.
	Arch string `json:"arch"`
	Rows []Row  `json:"rows"`
	// LeftOut is what could not be predicted, and why.
	LeftOut []string `json:"left_out"`
}

// JSON is the text of a file to keep, with a line for each row, without launches.
func (t *Table) JSON() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "{\n  \"gpu\": %s,\n  \"arch\": %s,\n  \"rows\": [", line(t.GPU), line(t.Arch))
	for i, row := range t.Rows {
		row.Estimates = nil
		row.Time, row.Roofline, row.PerElement = rounded(row.Time), rounded(row.Roofline), rounded(row.PerElement)
		fmt.Fprintf(&text, "%s\n    %s", map[bool]string{true: ","}[i > 0], line(row))
	}
	text.WriteString("\n  ],\n  \"left_out\": [")
	for i, reason := range t.LeftOut {
		fmt.Fprintf(&text, "%s\n    %s", map[bool]string{true: ","}[i > 0], line(reason))
	}
	text.WriteString("\n  ]\n}\n")
	return text.Bytes()
}

// line is a value on one line.
func line(value any) string {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil { // numbers and texts
		return "null"
	}
	return strings.TrimSpace(text.String())
}

// rounded keeps three digits: a prediction has no more.
func rounded(x float64) (out float64) {
	_, _ = fmt.Sscan(fmt.Sprintf("%.3g", x), &out) // what was printed can be read
	return out
}

// Write prints the table, with what was measured beside it, and with the launches if they are wanted.
func (t *Table) Write(to io.Writer, measured *bench.Result, launches bool) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	head := "op\tworkload\tdtype\tkernel\tpredicted"
	if measured != nil {
		head += "\tmeasured\tratio"
	}
	fmt.Fprintln(w, head+"\tbound\troofline\tper element\tlaunches\tflags")
	for i := range t.Rows {
		r := &t.Rows[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s", r.Op, r.Workload, r.DType, r.Variant, bench.Duration(r.Time))
		if measured != nil {
			fmt.Fprint(w, beside(r, measured))
		}
		fmt.Fprintf(w, "\t%s\t%s%.0f%%\t%.3g\t%d\t%s\n", r.Bound, map[bool]string{true: "≤ "}[r.Contents], 100*r.Roofline, r.PerElement, r.Launches,
			dash(strings.Join(r.Flags, ",")))
		if launches {
			for _, e := range r.Estimates {
				fmt.Fprintln(w, e.line(measured != nil))
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(to, "predictions for %s from code for %s\n", t.GPU, t.Arch)
	for _, reason := range t.LeftOut {
		fmt.Fprintln(to, "left out: "+reason)
	}
	return nil
}

// line is that of a launch in the table, whose first columns are those of rows.
func (e *Estimate) line(measured bool) string {
	kernel := e.Kernel
	if kernel == "" {
		kernel = "fill or copy"
	}
	gap := map[bool]string{true: "\t\t"}[measured]
	return fmt.Sprintf("  %s\t\t\t\t%s%s\t%s\t\t\t\t%d registers, %.0f%% of threads, %.3g waves, %.3g KiB in flight", kernel,
		bench.Duration(e.Time), gap, e.Bound, e.Registers, 100*e.Occupancy, e.Waves, e.InFlight/1024)
}

// beside are the columns of what was measured: the fastest caller counts, since calls differ in what the host does.
func beside(r *Row, measured *bench.Result) string {
	best := 0.0
	for i := range measured.Rows {
		m := &measured.Rows[i]
		if m.Op == r.Op && m.Workload == r.Workload && m.DType == r.DType && (best == 0 || m.Time.Median < best) {
			best = m.Time.Median
		}
	}
	if best == 0 {
		return "\t-\t-"
	}
	return fmt.Sprintf("\t%s\t%.2f", bench.Duration(best), best/r.Time)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
