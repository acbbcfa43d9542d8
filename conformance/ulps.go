package conformance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/report"
)

// errorBins is the number of classes of errors: exactly 0, up to 0.5, 1, 2, … 4096 ulp, and more.
const errorBins = 16

// errorBin is the class of an error in units in the last place.
func errorBin(ulps float64) int {
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

// measured collects the errors of all value checks of a run.
type measured struct {
	list []*report.ULPs
	at   map[measuredKey]*report.ULPs
}

// measuredKey says whose errors they are.
type measuredKey struct{ op, adaptor, kernel, dtypes, output string }

// add counts the errors of one result.
func (m *measured) add(key measuredKey, got *ndarray.Array, found *inspection, bound Bound) {
	u := m.at[key]
	if u == nil {
		u = &report.ULPs{
			Op: key.op, Adaptor: key.adaptor, Kernel: key.kernel, DType: key.dtypes, Output: key.output,
			Bins: make([]int64, errorBins), Share: -1,
		}
		m.at[key] = u
		m.list = append(m.list, u)
	}
	for i, n := range found.bins {
		u.Bins[i] += n
	}
	worst := found.worst
	if share := finite(worst.share); share > u.Share {
		u.Share, u.Worst, u.Allowed = share, finite(worst.distance/worst.spacing), bound.String()
		u.Index, u.Got, u.Want = orEmpty(got.Index(worst.at)), formatFloat(worst.got), formatFloat(worst.want)
	}
}

// finite is a number that JSON has.
func finite(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return math.MaxFloat64
	}
	return v
}

// results are the distributions, in the order of the report.
func (m *measured) results() []report.ULPs {
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

// worstShown is how many of the worst errors a run prints.
const worstShown = 3

// worstErrors tells which results came closest to their tolerances, one of each op.
func worstErrors(all []report.ULPs) []string {
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b report.ULPs) int { return cmp.Compare(b.Share, a.Share) })
	var out []string
	seen := map[string]bool{}
	for _, u := range sorted {
		if seen[u.Op] || len(out) == worstShown {
			continue
		}
		seen[u.Op] = true
		with := strings.Join(slices.DeleteFunc([]string{u.Kernel, u.DType}, func(s string) bool { return s == "" }), ", ")
		out = append(out, fmt.Sprintf("error of %s, %s (%s): %.3g ulp, %.3g %% of the allowed %s: %s%s is %s for %s",
			u.Op, u.Adaptor, with, u.Worst, 100*u.Share, u.Allowed, u.Output, list(u.Index), u.Got, u.Want))
	}
	return out
}

// compared judges a result by the reference, or by a second answer where that overflowed, and counts its errors. Those of
// inputs for which there is a second answer are not counted: they are extreme.
func (t *T) compared(call *Call, c *Case, slot int, got *ndarray.Array, want Expected, or []float64) {
	name, bound := slots(t.Op)[slot].Name, boundOf(c, slot)
	if text := unlike(name, got, want); text != "" {
		t.Fail(call, c.Name, "%s", text)
		return
	}
	found := inspect(got, want, or, bound)
	if or == nil && t.env.ulps != nil && !t.silent && ndarray.IsFloat(got.DType) && got.Len() > 0 {
		t.env.ulps.add(measuredKey{t.Op.Name, t.Caller.Name(), t.kernel, c.DTypes.String(), name}, got, &found, bound)
	}
	if text := found.text(name, got, bound); text != "" {
		at := &element{Slot: slot, Name: name, Index: orEmpty(got.Index(found.worst.at)), Want: formatFloat(found.worst.want)}
		t.failAt(call, at, c.Name, text)
	}
}
