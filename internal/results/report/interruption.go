package report

import (
	"cmp"
	"fmt"
	"slices"
)

// Interruption is what a run that was stopped before its end lacks.
type Interruption struct {
	// Reason is what stopped it, such as "interrupted by SIGINT".
	Reason string `json:"reason"`
	// NotRun counts what did not run, or was cut off: checks, each of one op through one adaptor; in a mutation run mutants,
	// in a version matrix environments.
	NotRun int `json:"not_run"`
	// Pending are checks that failed in the run before and would have run again.
	Pending []Spec `json:"pending,omitempty"`
}

// Spec is one check of one op through one adaptor.
type Spec struct {
	Op      string `json:"op"`
	Adaptor string `json:"adaptor"`
	Check   string `json:"check"`
}

// Spec is the check that a result is of.
func (r *Result) Spec() Spec { return Spec{r.Op, r.Adaptor, r.Check} }

// InterruptionText says what stopped a run, and how much of it is missing; empty where nothing did.
func (r *Report) InterruptionText() string {
	if r.Interrupted == nil {
		return ""
	}
	n, things := r.Interrupted.NotRun, "checks"
	switch {
	case len(r.Mutants) > 0:
		things = "mutants"
	case len(r.Versions) > 0:
		things = "environments"
	}
	if n == 1 {
		things = things[:len(things)-1]
	}
	return fmt.Sprintf("%s: %d %s did not run", r.Interrupted.Reason, n, things)
}

// Failed are the checks that failed, and those that an interrupted run has not reached since they did.
func (r *Report) Failed() []Spec {
	var out []Spec
	for i := range r.Results {
		if r.Results[i].Status.Bad() {
			out = append(out, r.Results[i].Spec())
		}
	}
	if r.Interrupted != nil {
		out = append(out, r.Interrupted.Pending...)
	}
	return distinct(out)
}

// ran are the checks that have results.
func (r *Report) ran() map[Spec]bool {
	out := map[Spec]bool{}
	for i := range r.Results {
		out[r.Results[i].Spec()] = true
	}
	return out
}

// Pend takes over the checks that failed in a run before and have no result in this one.
func (i *Interruption) Pend(now, before *Report, planned func(Spec) bool) {
	ran := now.ran()
	for _, s := range before.Failed() {
		if !ran[s] && planned(s) {
			i.Pending = append(i.Pending, s)
		}
	}
	i.Pending = distinct(i.Pending)
}

// mergeInterruptions says of the parts of a run what is missing in all of them together; nil where nothing is.
func mergeInterruptions(out *Report, parts []*Report) *Interruption {
	var all *Interruption
	ran := out.ran()
	for _, part := range parts {
		i := part.Interrupted
		if i == nil {
			continue
		}
		if all == nil {
			all = &Interruption{Reason: i.Reason}
		}
		all.NotRun += i.NotRun
		all.Pending = append(all.Pending, i.Pending...)
	}
	if all != nil {
		all.Pending = slices.DeleteFunc(distinct(all.Pending), func(s Spec) bool { return ran[s] })
	}
	return all
}

// distinct sorts checks, and leaves each in once.
func distinct(list []Spec) []Spec {
	slices.SortFunc(list, func(a, b Spec) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor), cmp.Compare(a.Check, b.Check))
	})
	return slices.Compact(list)
}
