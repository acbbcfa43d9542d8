package predict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/opcast/opcast/internal/build/sass"
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

// warp is how many threads run one instruction.
const warp = 32

// Work is what a call asks of one launch: bytes to read and to write, and operations.
type Work struct{ Loads, Stores, Flops float64 }

// total is what all warps of a launch run together.
type total struct {
	instructions, lsu, xu, fp64 float64
	// tensor are operations by instructions of a warp, wgmma those of warp groups; moved are bytes of global memory.
	tensor, wgmma, moved float64
}

// add adds code that runs so many times.
func (t *total) add(m *sass.Mix, times float64) {
	t.instructions += times * float64(m.Instructions)
	t.lsu += times * float64(m.LSU)
	t.xu += times * float64(m.XU)
	t.fp64 += times * float64(m.FP64)
	loads, stores := m.Moved()
	t.moved += times * float64(warp*(loads+stores))
	if m.WGMMA {
		t.wgmma += times * float64(m.TensorFlops)
	} else {
		t.tensor += times * float64(m.TensorFlops)
	}
}

// runs says how often each loop of a function runs in all warps together, and adds up what they run. Machine code has no trip
// counts: a loop that touches global memory runs until it has moved the bytes of the call, and one that computes until it has done
// its operations; the larger number counts. All other code runs once in each warp.
func runs(f *sass.Function, w Work, warps float64) total {
	var t total
	t.add(&f.Once, warps)
	mathLoops, perRound := computing(f)
	widest := 0
	for _, l := range f.Loops {
		widest = max(widest, l.All.Widest())
	}
	for i := range f.Loops {
		l := &f.Loops[i]
		times := warps
		if l.Hot {
			times = moving(&l.All, w)
		}
		if mathLoops[i] && perRound > 0 && w.Flops > 0 {
			times = max(times, w.Flops/perRound)
		}
		if l.Remainder || l.Hot && isOther(&l.All, widest) {
			times = 0
		}
		if up := hotAround(f, i); up >= 0 && !mathLoops[i] { // at least once in each round of the loop around it
			times = max(times, moving(&f.Loops[up].All, w))
		}
		t.add(&l.Mix, times)
	}
	return t
}

// isOther says whether a loop is there for arrays that are not aligned: others of the kernel move vectors, and this one numbers of one
// or two bytes. Workloads are aligned.
func isOther(m *sass.Mix, widest int) bool {
	const vector, narrow = 64, 16
	return widest >= vector && m.Widest() <= narrow && m.Tensor == 0
}

// hotAround is the hot loop that holds a loop; -1 if there is none.
func hotAround(f *sass.Function, i int) int {
	for i = f.Loops[i].Parent; i >= 0 && !f.Loops[i].Hot; {
		i = f.Loops[i].Parent
	}
	return i
}

// moving is how often a loop runs to move the bytes.
func moving(m *sass.Mix, w Work) float64 {
	times := 0.0
	loads, stores := m.Moved()
	if loads > 0 {
		times = w.Loads / float64(warp*loads)
	}
	if stores > 0 {
		times = max(times, w.Stores/float64(warp*stores))
	}
	return times
}

// computing are the loops that do the operations of a call: those with matrix instructions, else the innermost with arithmetic on
// floats; and how many operations one iteration of each is.
func computing(f *sass.Function) (loops map[int]bool, perRound float64) {
	loops = map[int]bool{}
	for i := range f.Loops {
		if f.Loops[i].Mix.TensorFlops > 0 {
			loops[i] = true
			perRound += float64(f.Loops[i].Mix.TensorFlops)
		}
	}
	if len(loops) > 0 {
		return loops, perRound
	}
	for i := range f.Loops {
		l := &f.Loops[i]
		inner := slices.ContainsFunc(f.Loops, func(o sass.Loop) bool { return o.Parent == i && o.All.Flops > l.Mix.Flops })
		if l.Mix.Flops > 0 && !inner && !l.Remainder {
			loops[i] = true
			perRound += float64(l.Mix.Flops)
		}
	}
	return loops, perRound
}

// occupancy is how many blocks of a kernel a multiprocessor holds.
func occupancy(c *Chip, f *sass.Function, l *Launch) int {
	const granule = 8 // registers are given out in such units to each thread
	warps := int(math.Ceil(float64(l.Threads()) / warp))
	blocks := min(c.Blocks, c.Threads/max(warps*warp, 1))
	if f.Registers > 0 {
		registers := (f.Registers + granule - 1) / granule * granule * warp * warps
		blocks = min(blocks, c.Registers/registers)
	}
	const reserved = 1 << 10 // of each block, by the driver
	if shared := f.Shared + l.Shared + reserved; shared > 0 {
		blocks = min(blocks, c.SharedOfSM/shared)
	}
	return max(blocks, 1)
}
