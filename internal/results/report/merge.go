package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// ErrDifferent means that reports are not of the same run: another collection, library or suite.
var ErrDifferent = errors.New("reports of different runs")

// Merge makes one report of the parts of a run, such as shards and parallel jobs. They must be of one collection, library,
// suite and device. Where a result is in several parts, the gravest counts, so that no failure gets lost.
func Merge(parts ...*Report) (*Report, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: there are none", ErrDifferent)
	}
	first := parts[0]
	out := &Report{
		Schema: Schema, SuiteVersion: first.SuiteVersion, Collection: first.Collection, OpdefsDigest: first.OpdefsDigest,
		LibrarySHA256: first.LibrarySHA256, Device: first.Device,
		Adaptors: map[string]string{}, Environment: map[string]string{},
	}
	merged := &merger{out: out, at: map[Key]int{}, ulps: map[ulpKey]int{}}
	for _, part := range parts {
		if err := same(first, part); err != nil {
			return nil, err
		}
		if err := merged.adaptors(part); err != nil {
			return nil, err
		}
		merged.environment(part)
		merged.results(part)
		merged.measured(part)
		merged.checks(part)
		out.Mutants = append(out.Mutants, part.Mutants...)
		out.Versions = append(out.Versions, part.Versions...)
		out.Timings = append(out.Timings, part.Timings...)
		out.Random = append(out.Random, part.Random...)
	}
	out.Started, out.Seconds = span(parts)
	out.Interrupted = mergeInterruptions(out, parts)
	out.Sort()
	return out, nil
}

// same reports in what two parts differ that must be one.
func same(a, b *Report) error {
	for _, field := range []struct{ name, a, b string }{
		{"collection", a.Collection, b.Collection}, {"suite", a.SuiteVersion, b.SuiteVersion},
		{"library", a.LibrarySHA256, b.LibrarySHA256}, {"definitions", a.OpdefsDigest, b.OpdefsDigest},
		{"device", kind(a.Device), kind(b.Device)},
	} {
		if field.a != field.b {
			return fmt.Errorf("%w: the %s is %q in one and %q in another", ErrDifferent, field.name, field.a, field.b)
		}
	}
	return nil
}

// kind is a device without its hardware: a part whose callers all are missing does not know the hardware.
func kind(device string) string {
	before, _, _ := strings.Cut(device, " (")
	return before
}

// merger collects parts; at and ulps say where in out things are already.
type merger struct {
	out  *Report
	at   map[Key]int
	ulps map[ulpKey]int
}

// adaptors joins the versions. A part that has not started an adaptor knows none.
func (m *merger) adaptors(part *Report) error {
	for name, version := range part.Adaptors {
		have := m.out.Adaptors[name]
		if have != "" && version != "" && have != version {
			return fmt.Errorf("%w: %s is %s in one and %s in another", ErrDifferent, name, have, version)
		}
		m.out.Adaptors[name] = cmp.Or(have, version)
	}
	if len(part.Device) > len(m.out.Device) {
		m.out.Device = part.Device // with the hardware
	}
	return nil
}

// environment joins what parts say of their machines, which may be several.
func (m *merger) environment(part *Report) {
	for _, name := range slices.Sorted(maps.Keys(part.Environment)) {
		value, have := part.Environment[name], m.out.Environment[name]
		if have != "" && !slices.Contains(strings.Split(have, "; "), value) {
			value = have + "; " + value
		} else if have != "" {
			value = have
		}
		m.out.Environment[name] = value
	}
}

// results adds those of a part. Within a part a check may have several results of one key.
func (m *merger) results(part *Report) {
	before := len(m.out.Results)
	for _, result := range part.Results {
		i, there := m.at[result.Key()]
		switch {
		case !there || i >= before:
			m.at[result.Key()] = len(m.out.Results)
			m.out.Results = append(m.out.Results, result)
		case Worse(m.out.Results[i].Status, result.Status) != m.out.Results[i].Status:
			m.out.Results[i] = result
		}
	}
}

// checks joins the descriptions: parts have run the same suite, but not the same checks.
func (m *merger) checks(part *Report) {
	for _, c := range part.Checks {
		if !slices.ContainsFunc(m.out.Checks, func(have Check) bool { return have.ID == c.ID }) {
			m.out.Checks = append(m.out.Checks, c)
		}
	}
}

// ulpKey identifies a distribution of errors.
type ulpKey struct{ op, adaptor, kernel, dtype, output string }

func (u *ULPs) key() ulpKey { return ulpKey{u.Op, u.Adaptor, u.Kernel, u.DType, u.Output} }

// measured adds up the errors of all parts.
func (m *merger) measured(part *Report) {
	for _, u := range part.ULPs {
		i, there := m.ulps[u.key()]
		if !there {
			m.ulps[u.key()] = len(m.out.ULPs)
			u.Bins = slices.Clone(u.Bins)
			m.out.ULPs = append(m.out.ULPs, u)
			continue
		}
		have := &m.out.ULPs[i]
		have.Bins = append(have.Bins, make([]int64, max(0, len(u.Bins)-len(have.Bins)))...)
		for j, n := range u.Bins {
			have.Bins[j] += n
		}
		if u.Share > have.Share || u.Share == have.Share && u.Worst > have.Worst {
			have.Worst, have.Share, have.Allowed = u.Worst, u.Share, u.Allowed
			have.Index, have.Got, have.Want = u.Index, u.Got, u.Want
		}
	}
}

// span is when the first part began, and how long all took by the clock: parts may have run at once, one after another, or
// on several days.
func span(parts []*Report) (started string, seconds float64) {
	var low, high time.Time
	sum, clocked := 0.0, true
	for _, part := range parts {
		sum += part.Seconds
		at, err := time.Parse(time.RFC3339Nano, part.Started)
		if err != nil {
			clocked = false
			continue
		}
		end := at.Add(time.Duration(part.Seconds * float64(time.Second)))
		if low.IsZero() || at.Before(low) {
			low, started = at, part.Started
		}
		if end.After(high) {
			high = end
		}
	}
	if !clocked {
		return started, sum
	}
	return started, min(high.Sub(low).Seconds(), sum)
}
