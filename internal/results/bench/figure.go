package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Figure is one number that was measured, or the reason why it was not.
type Figure struct {
	// Name is that of no other figure of a run: words between slashes, the general ones first.
	Name string `json:"name"`
	// What says in words what was measured.
	What string `json:"what"`
	// Unit is "ns", "s" or "bytes", or names what is counted; "ratio" is one of two numbers of the same rounds.
	Unit string `json:"unit"`
	// Value is nil where Missing says why.
	Value   *Spread `json:"value"`
	Missing string  `json:"missing,omitempty"`
	// Beside names what a ratio is to.
	Beside string `json:"beside,omitempty"`
	// Better is what one wishes for: less or more.
	Better string `json:"better,omitempty"`
	// Exact says that the machine does not matter: a count.
	Exact bool `json:"exact,omitempty"`
}

// What one may wish for.
const (
	Less = "less"
	More = "more"
)

// Ratio and Nanoseconds are units; others are written as they are.
const (
	Ratio       = "ratio"
	Nanoseconds = "ns"
	Seconds     = "s"
	Bytes       = "bytes"
)

// write writes a value in a unit of the figures.
func write(v float64, unit string) string {
	switch unit {
	case Ratio:
		return fmt.Sprintf("%.2f", v)
	case Nanoseconds:
		return Duration(v)
	case Seconds:
		return Duration(v * 1e9)
	case Bytes:
		return size(v)
	}
	if v == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return number(v) + " " + unit
}

// number writes what is counted.
func number(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// size writes bytes.
func size(v float64) string {
	switch {
	case v >= 1<<20:
		return Digits(v/(1<<20)) + " MiB"
	case v >= 1<<10:
		return Digits(v/(1<<10)) + " KiB"
	}
	return Digits(v) + " B"
}

// String is the value with its unit.
func (f *Figure) String() string {
	if f.Value == nil {
		return "-"
	}
	return write(f.Value.Median, f.Unit)
}

// Quartiles are those of the value, where there was more than one sample.
func (f *Figure) Quartiles() string {
	switch {
	case f.Value == nil || f.Value.Low == f.Value.High:
		return "-"
	case f.Unit == Nanoseconds:
		return f.Value.Quartiles()
	case f.Unit == Seconds:
		return Spread{f.Value.Low * 1e9, f.Value.Median * 1e9, f.Value.High * 1e9}.Quartiles()
	}
	return write(f.Value.Low, f.Unit) + "-" + write(f.Value.High, f.Unit)
}

// AllFigures are the figures of a run, and the ratios of its rows to the fastest peers.
func (r *Result) AllFigures() []Figure {
	out := slices.Clone(r.Figures)
	for i := range r.Rows {
		row := &r.Rows[i]
		if share, known := row.Roof(); known && row.Device != "" {
			out = append(out, Figure{
				Name: row.figureName("roof"), What: row.title() + ", as a part of what the copy or the matrix product reaches", Unit: Ratio,
				Better: More, Value: &Spread{share, share, share},
			})
		}
		if len(row.Peers) == 0 {
			continue // nobody has named one
		}
		f := Figure{
			Name: row.figureName("peer"), What: row.title(), Unit: Ratio, Better: More, Missing: "it has no peer that can be used here",
		}
		if best := row.Best(); best != nil {
			f.Value, f.Beside, f.Missing = best.Ratio, best.Name, ""
		}
		out = append(out, f)
	}
	return out
}

// figureName is what budgets call the ratio of a row: to the fastest peer, or on a GPU also to the roof.
func (r *Row) figureName(to string) string {
	dtype := strings.ReplaceAll(r.DType, " ", "+")
	if r.Device != "" {
		return fmt.Sprintf("%s/%s/%s/%s/%s/%s", r.Device, to, r.Op, r.Workload, dtype, r.Caller)
	}
	return fmt.Sprintf("workload/%s/%s/%s/%s/%d", r.Op, r.Workload, dtype, r.Caller, r.Threads)
}

// Join puts results together, such as those of several suites. What the first says of the machine counts. Of rows or figures of one
// name the last one counts.
func Join(results []*Result) *Result {
	out := *results[0]
	out.Versions = maps.Clone(out.Versions)
	if out.Versions == nil {
		out.Versions = map[string]string{}
	}
	out.Rows, out.LeftOut, out.Figures, out.Commands = []Row{}, []LeftOut{}, nil, nil
	for _, r := range results {
		for _, row := range r.Rows {
			out.Rows = slices.DeleteFunc(out.Rows, func(one Row) bool { return one.Key == row.Key })
			out.Rows = append(out.Rows, row)
		}
		named := map[string]bool{}
		for _, f := range r.Figures {
			named[f.Name] = true
		}
		out.Figures = slices.DeleteFunc(out.Figures, func(one Figure) bool { return named[one.Name] })
		out.Figures = append(out.Figures, r.Figures...)
		out.Commands, out.LeftOut = united(out.Commands, r.Commands), united(out.LeftOut, r.LeftOut)
		maps.Copy(out.Versions, r.Versions)
		out.Date = min(out.Date, r.Date)
		out.Collection, out.Version = cmp.Or(out.Collection, r.Collection), cmp.Or(out.Version, r.Version)
	}
	return &out
}

// united adds what is not there.
func united[T comparable](to, more []T) []T {
	for _, one := range more {
		if !slices.Contains(to, one) {
			to = append(to, one)
		}
	}
	return to
}
