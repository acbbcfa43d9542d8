package report

import (
	"cmp"
	"fmt"
	"slices"
)

// Changes is what differs from a previous run, as far as both ran the same.
type Changes struct {
	// Since is when the previous run began; SuiteVersion and LibrarySHA256 say what it tested with what.
	Since         string `json:"since,omitempty"`
	SuiteVersion  string `json:"suite_version"`
	LibrarySHA256 string `json:"library_sha256"`
	// Compared counts results in both runs; Added and Gone those in one only.
	Compared int `json:"compared"`
	Added    int `json:"added"`
	Gone     int `json:"gone"`
	// Broken fail now and did not before, though their check ran; Fixed the other way round. Lost passed or
	// failed before and are skipped or unsupported now.
	Broken []Change `json:"broken,omitempty"`
	Fixed  []Change `json:"fixed,omitempty"`
	Lost   []Change `json:"lost,omitempty"`
	// Slower are checks that take much longer, Coarser outputs whose worst error grew.
	Slower  []Slower  `json:"slower,omitempty"`
	Coarser []Coarser `json:"coarser,omitempty"`
}

// Change is a result with another status.
type Change struct {
	Op      string `json:"op"`
	Adaptor string `json:"adaptor"`
	Group   string `json:"group"`
	Check   string `json:"check"`
	Kernel  string `json:"kernel,omitempty"`
	DType   string `json:"dtype,omitempty"`
	Before  Status `json:"before,omitempty"`
	After   Status `json:"after"`
}

// Slower is a check of one op through one adaptor that takes longer: all kernels and dtypes together, in seconds.
type Slower struct {
	Op      string  `json:"op"`
	Adaptor string  `json:"adaptor"`
	Check   string  `json:"check"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
}

// Coarser is an output whose worst error grew, in units in the last place.
type Coarser struct {
	Op      string  `json:"op"`
	Adaptor string  `json:"adaptor"`
	Kernel  string  `json:"kernel,omitempty"`
	DType   string  `json:"dtype,omitempty"`
	Output  string  `json:"output"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
}

// A check is slower if it takes this many times as long and this many seconds more: less is what machines do on their own.
const (
	slowerTimes   = 1.5
	slowerSeconds = 0.5
)

// Since compares with a previous run. It returns nil if that one was of another collection or device.
func (r *Report) Since(old *Report) *Changes {
	if old.Collection != r.Collection || kind(old.Device) != kind(r.Device) {
		return nil
	}
	c := &Changes{Since: old.Started, SuiteVersion: old.SuiteVersion, LibrarySHA256: old.LibrarySHA256}
	now, before, ran := statuses(r.Results), statuses(old.Results), durations(old.Results)
	for _, result := range now.order {
		was, there := before.of[result.Key()]
		is := now.of[result.Key()]
		// A check that dies has no rows, so that its result is one which was not there.
		_, ranBefore := ran[[3]string{result.Op, result.Adaptor, result.Check}]
		if !there {
			c.Added++
		} else {
			c.Compared++
		}
		change := Change{
			result.Op, result.Adaptor, result.Group, result.Check, result.Kernel, result.DType, was, is,
		}
		switch {
		case is.Bad() && !was.Bad() && (there || ranBefore):
			c.Broken = append(c.Broken, change)
		case was.Bad() && is == Pass:
			c.Fixed = append(c.Fixed, change)
		case (was == Pass || was.Bad()) && is != Pass && !is.Bad():
			c.Lost = append(c.Lost, change)
		}
	}
	c.Gone = len(before.of) - c.Compared
	c.Slower, c.Coarser = slower(r, old), coarser(r, old)
	return c
}

// outcomes are the gravest statuses by key, and the first result of each in order.
type outcomes struct {
	of    map[Key]Status
	order []*Result
}

func statuses(results []Result) outcomes {
	out := outcomes{of: map[Key]Status{}}
	for i := range results {
		key := results[i].Key()
		if _, there := out.of[key]; !there {
			out.order = append(out.order, &results[i])
		}
		out.of[key] = Worse(out.of[key], results[i].Status)
	}
	return out
}

// durations adds up the seconds of each check of an op through an adaptor.
func durations(results []Result) map[[3]string]float64 {
	out := map[[3]string]float64{}
	for _, result := range results {
		out[[3]string{result.Op, result.Adaptor, result.Check}] += result.Seconds
	}
	return out
}

// slower lists the checks that take longer, most time lost first.
func slower(now, old *Report) []Slower {
	var out []Slower
	before := durations(old.Results)
	for key, after := range durations(now.Results) {
		was, there := before[key]
		if there && after > was*slowerTimes && after-was > slowerSeconds {
			out = append(out, Slower{key[0], key[1], key[2], was, after})
		}
	}
	slices.SortFunc(out, func(a, b Slower) int {
		return cmp.Or(cmp.Compare(b.After-b.Before, a.After-a.Before),
			cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor), cmp.Compare(a.Check, b.Check))
	})
	return out
}

// coarser lists the outputs whose worst error grew.
func coarser(now, old *Report) []Coarser {
	before := map[ulpKey]float64{}
	for i := range old.ULPs {
		before[old.ULPs[i].key()] = old.ULPs[i].Worst
	}
	var out []Coarser
	for _, u := range now.ULPs {
		if was, there := before[u.key()]; there && u.Worst > was {
			out = append(out, Coarser{u.Op, u.Adaptor, u.Kernel, u.DType, u.Output, was, u.Worst})
		}
	}
	return out
}

// Lines tells in words what changed, if anything did; of nothing, nothing.
func (c *Changes) Lines() []string {
	if c == nil {
		return nil
	}
	var out []string
	for _, part := range []struct {
		name string
		n    int
		what func(int) string
	}{
		{"fails now and did not before", len(c.Broken), func(i int) string { return c.Broken[i].String() }},
		{"is fixed", len(c.Fixed), func(i int) string { return c.Fixed[i].String() }},
		{"is no longer checked", len(c.Lost), func(i int) string { return c.Lost[i].String() }},
		{"is less accurate", len(c.Coarser), func(i int) string { return c.Coarser[i].String() }},
	} {
		for i := range min(part.n, shownChanges) {
			out = append(out, fmt.Sprintf("since the previous run: %s %s", part.what(i), part.name))
		}
		if part.n > shownChanges {
			out = append(out, fmt.Sprintf("since the previous run: %d more: %s", part.n-shownChanges, part.name))
		}
	}
	return out
}

// shownChanges is how many changes of a kind are told in words; the page has all.
const shownChanges = 3

// String names the result.
func (c *Change) String() string {
	r := Result{Group: c.Group, Check: c.Check, Kernel: c.Kernel, DType: c.DType}
	return fmt.Sprintf("%s, %s: %s", c.Op, c.Adaptor, r.Title())
}

// String names the output.
func (c *Coarser) String() string {
	return fmt.Sprintf("%s of %s, %s (%s, %.3g ulp before, %.3g now)", c.Output, c.Op, c.Adaptor, c.DType, c.Before, c.After)
}

// Diff lists the results whose status differs between two runs, ordered by their names. A result that only one of the runs
// has is listed too, with an empty status for the other run.
func Diff(before, after *Report) ([]Change, error) {
	if before.Collection != after.Collection {
		return nil, fmt.Errorf("%w: one is of %q, the other of %q", ErrDifferent, before.Collection, after.Collection)
	}
	old, now := statuses(before.Results), statuses(after.Results)
	var out []Change
	for _, r := range slices.Concat(old.order, now.order) {
		if was, is := old.of[r.Key()], now.of[r.Key()]; was != is {
			out = append(out, Change{r.Op, r.Adaptor, r.Group, r.Check, r.Kernel, r.DType, was, is})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor), cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Check, b.Check), cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.DType, b.DType))
	})
	return slices.Compact(out), nil // what both runs have is there twice
}
