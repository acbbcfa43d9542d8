package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Counts are numbers of results by outcome, errors counted as failed, and how long their checks took.
type Counts struct {
	Name                                 string
	Passed, Failed, Unsupported, Skipped int
	Seconds                              float64
}

// Add counts one result.
func (c *Counts) Add(r *Result) {
	switch r.Status {
	case Pass:
		c.Passed++
	case Unsupported:
		c.Unsupported++
	case Skip:
		c.Skipped++
	default:
		c.Failed++
	}
	c.Seconds += r.Seconds
}

// The verdicts on mutants.
const (
	Killed     = "killed"
	Survived   = "survived"
	Equivalent = "equivalent"
	NotRun     = "unsupported"
)

// MutantCounts are numbers of mutants by verdict; Expected are those that one of the expected checks has killed.
type MutantCounts struct {
	Name                                                      string
	Made, Killed, Expected, Equivalent, Survived, Unsupported int
}

// Add counts one mutant.
func (c *MutantCounts) Add(m *Mutant) {
	c.Made++
	switch m.Verdict {
	case Killed:
		c.Killed++
		if m.expected() {
			c.Expected++
		}
	case Equivalent:
		c.Equivalent++
	case NotRun:
		c.Unsupported++
	default:
		c.Survived++
	}
}

// expected reports whether one of the checks that should notice a mutant has noticed it.
func (m *Mutant) expected() bool { return slices.Contains(m.Expected, m.By) }

// All is the number of results.
func (c *Counts) All() int { return c.Passed + c.Failed + c.Unsupported + c.Skipped }

// Status is the outcome of all together: that of the checks which had something to do.
func (c *Counts) Status() Status {
	switch {
	case c.Failed > 0:
		return Fail
	case c.Passed > 0:
		return Pass
	case c.Unsupported > 0:
		return Unsupported
	case c.Skipped > 0:
		return Skip
	}
	return ""
}

// String lists what there is, "12 passed, 3 unsupported".
func (c *Counts) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		name string
	}{{c.Failed, "failed"}, {c.Passed, "passed"}, {c.Unsupported, "unsupported"}, {c.Skipped, "skipped"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.name))
		}
	}
	return strings.Join(parts, ", ")
}

// Total counts all results.
func (r *Report) Total() *Counts {
	c := &Counts{Name: "total"}
	for i := range r.Results {
		c.Add(&r.Results[i])
	}
	return c
}

// Groups counts the results of each group, in the order of the suite.
func (r *Report) Groups() []*Counts {
	var out []*Counts
	by := map[string]*Counts{}
	for i := range r.Results {
		name := r.Results[i].Group
		if by[name] == nil {
			by[name] = &Counts{Name: name}
			out = append(out, by[name])
		}
		by[name].Add(&r.Results[i])
	}
	place := func(name string) int {
		if i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.Group == name }); i >= 0 {
			return i
		}
		return len(r.Checks)
	}
	slices.SortFunc(out, func(a, b *Counts) int {
		return cmp.Or(cmp.Compare(place(a.Name), place(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Table has a line for each group and one for all.
func (r *Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s%8s%8s%13s%9s%10s\n", "group", "passed", "failed", "unsupported", "skipped", "seconds")
	for _, c := range append(r.Groups(), r.Total()) {
		fmt.Fprintf(&b, "%-18s%8d%8d%13d%9d%10.1f\n", c.Name, c.Passed, c.Failed, c.Unsupported, c.Skipped, c.Seconds)
	}
	return b.String()
}

// Duration writes seconds as people do: "8 min 46 s", "2.4 s".
func Duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	switch {
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// finite replaces numbers that JSON does not have by the largest one.
func (r *Report) finite() {
	for i := range r.ULPs {
		limit(&r.ULPs[i].Worst)
		limit(&r.ULPs[i].Share)
	}
	for i := range r.Timings {
		limit(&r.Timings[i].Ours)
		limit(&r.Timings[i].Theirs)
		limit(&r.Timings[i].Ratio)
	}
}

func limit(v *float64) {
	if math.IsNaN(*v) || math.IsInf(*v, 0) {
		*v = math.MaxFloat64
	}
}
