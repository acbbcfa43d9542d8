package bench

import (
	"fmt"
	"math"
	"slices"
)

// Spread is the median of samples, with the quartiles beside it.
type Spread struct {
	Low    float64 `json:"low"`
	Median float64 `json:"median"`
	High   float64 `json:"high"`
}

// positive says whether it can be one of times or ratios.
func (s Spread) positive() bool { return s.Low > 0 && s.Low <= s.Median && s.Median <= s.High }

// counted says whether it can be one of anything that is measured: a count may be zero.
func (s Spread) counted() bool { return s.Low >= 0 && s.Low <= s.Median && s.Median <= s.High }

// SpreadOf summarises samples, of which there is at least one.
func SpreadOf(samples []float64) Spread {
	sorted := slices.Sorted(slices.Values(samples))
	return Spread{Low: quantile(sorted, 0.25), Median: quantile(sorted, 0.5), High: quantile(sorted, 0.75)}
}

// quantile lies between neighbours as far as the share says.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// Ratios divides samples by others that were taken in the same rounds, and summarises. On a machine with other work, times
// change by half from one second to the next, and the ratio of two medians would follow them.
func Ratios(samples, by []float64) Spread {
	var out []float64
	for i := range min(len(samples), len(by)) {
		out = append(out, samples[i]/by[i])
	}
	return SpreadOf(out)
}

// Inverse is what a time in nanoseconds gives as a rate of an amount per nanosecond.
func (s Spread) Inverse(amount float64) Spread {
	return Spread{Low: amount / s.High, Median: amount / s.Median, High: amount / s.Low}
}

// units of time, the longest first, in nanoseconds.
var units = []struct {
	name string
	size float64
}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}}

// Duration writes nanoseconds with three digits.
func Duration(ns float64) string {
	text, unit := scaled(ns, unitOf(ns))
	return text + " " + unit
}

// Quartiles writes both in the unit of the median: "11.9-12.8 µs".
func (s Spread) Quartiles() string {
	at := unitOf(s.Median)
	low, _ := scaled(s.Low, at)
	high, unit := scaled(s.High, at)
	return low + "-" + high + " " + unit
}

func unitOf(ns float64) int {
	for i, u := range units {
		if ns >= u.size*0.9995 { // 999.6 µs are a millisecond
			return i
		}
	}
	return len(units) - 1
}

func scaled(ns float64, unit int) (text, name string) {
	return Digits(ns / units[unit].size), units[unit].name
}

// Digits writes a number with three digits and no exponent; whole numbers keep all of theirs.
func Digits(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprint(v)
	}
	rounded := v
	if _, err := fmt.Sscan(fmt.Sprintf("%.2e", v), &rounded); err != nil { // 9.996 has one digit more when it is rounded
		rounded = v
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(rounded))))
	return fmt.Sprintf("%.*f", min(max(digits, 0), 6), v)
}
