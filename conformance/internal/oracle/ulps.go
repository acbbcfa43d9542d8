package oracle

import (
	"cmp"
	"math"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/results/report"
)

// errorBins is the number of classes of errors: exactly 0, up to 0.5, 1, 2, … 4096 ulp, and more.
const errorBins = 16

// ErrorBin is the class of an error in units in the last place.
func ErrorBin(ulps float64) int {
	if ulps == 0 {
		return 0
	}
	fraction, exponent := math.Frexp(ulps)
	if fraction > 0.5 {
		exponent++ // Frexp gives ulps ≤ 2^(exponent-1) for powers of two alone
	}
	if math.IsInf(ulps, 0) || math.IsNaN(ulps) {
		return errorBins - 1
	}
	return min(max(exponent, 0)+1, errorBins-1)
}

// ErrorHistograms collects the errors of all value checks of a run.
type ErrorHistograms struct {
	list []*report.ULPs
	At   map[HistogramKey]*report.ULPs
}

// HistogramKey says whose errors they are.
type HistogramKey struct{ Op, Adaptor, Kernel, DTypes, Output string }

// Add counts the errors of one result.
func (m *ErrorHistograms) Add(key HistogramKey, got *ndarray.Array, found *inspection, bound Tolerance) {
	u := m.At[key]
	if u == nil {
		u = &report.ULPs{
			Op: key.Op, Adaptor: key.Adaptor, Kernel: key.Kernel, DType: key.DTypes, Output: key.Output,
			Bins: make([]int64, errorBins), Share: -1,
		}
		m.At[key] = u
		m.list = append(m.list, u)
	}
	for i, n := range found.bins {
		u.Bins[i] += n
	}
	worst := found.Worst
	if share := finite(worst.Share); share > u.Share {
		u.Share, u.Worst, u.Allowed = share, finite(worst.Distance/worst.Spacing), bound.String()
		u.Index, u.Got, u.Want = cases.OrEmpty(found.Index(got)), FormatFloat(worst.Got.value), FormatFloat(worst.Want.value)
		if found.whole != nil {
			u.Got, u.Want = found.GotText(got), found.WantText(got)
		}
	}
}

// finite is a number that JSON has.
func finite(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return math.MaxFloat64
	}
	return v
}

// Results are the distributions, in the order of the report.
func (m *ErrorHistograms) Results() []report.ULPs {
	var out []report.ULPs
	for _, u := range m.list {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b report.ULPs) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor), cmp.Compare(a.Output, b.Output),
			cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.DType, b.DType))
	})
	return out
}
