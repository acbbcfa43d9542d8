package bench

import (
	"fmt"
	"slices"
)

// Margin is by how much a row must be worse, beside the spreads of both runs, before it counts as worse.
const Margin = 0.05

// Change is a row that two runs have.
type Change struct {
	Key
	// Copy is the new time divided by the old one, both in units of the copy through memory; Peer is the same in units of
	// the named peer, and zero where no peer is in both runs.
	Copy, Peer float64
	Beside     string
	Worse      bool
}

// String says how much slower the row has become.
func (c Change) String() string {
	text := fmt.Sprintf("%v: %s times as long as before, beside the copy", c.Key, Digits(c.Copy))
	if c.Beside != "" {
		text += fmt.Sprintf("; %s beside %s", Digits(c.Peer), c.Beside)
	}
	return text
}

// Comparison is what has become of the rows of an older run.
type Comparison struct {
	Changes []Change
	// Figures are those of both runs that can be compared.
	Figures []FigureChange
	// Gone are rows that only the older run has, of ops and callers that the newer one has measured.
	Gone []Key
	// OtherMachine says that the runs took place on different machines.
	OtherMachine bool
}

// Worse are the rows that have become slower, the worst first.
func (c *Comparison) Worse() []Change {
	worse := slices.DeleteFunc(slices.Clone(c.Changes), func(x Change) bool { return !x.Worse })
	slices.SortStableFunc(worse, func(a, b Change) int {
		switch {
		case a.Copy > b.Copy:
			return -1
		case a.Copy < b.Copy:
			return 1
		}
		return 0
	})
	return worse
}

// Since compares the rows of a run with those of an older one. Times are compared in units of what was measured in the same
// rounds, since machines differ from day to day: of the copy, and of a peer where both runs have it. A row is worse if it is
// so in all units that there are.
func (r *Result) Since(old *Result) *Comparison {
	out := &Comparison{OtherMachine: r.Machine != old.Machine}
	now := map[Key]*Row{}
	for i := range r.Rows {
		now[r.Rows[i].Key] = &r.Rows[i]
	}
	for i := range old.Rows {
		before := &old.Rows[i]
		after, found := now[before.Key]
		switch {
		case found:
			out.Changes = append(out.Changes, change(before, after))
		case r.has(before.Key):
			out.Gone = append(out.Gone, before.Key)
		}
	}
	out.Figures = r.figuresSince(old)
	return out
}

// Confirm takes over, from a second run, the rows that are slower than in an older one and were not this time: where memory came to
// lie, and what else ran, differs from process to process, and no spread within one of them tells.
func (r *Result) Confirm(again, old *Result) {
	r.confirmFigures(again, old)
	twice := again.Since(old).Worse()
	for _, worse := range r.Since(old).Worse() {
		if slices.ContainsFunc(twice, func(c Change) bool { return c.Key == worse.Key }) {
			continue
		}
		for i := range again.Rows {
			if again.Rows[i].Key == worse.Key {
				r.Rows[slices.IndexFunc(r.Rows, func(x Row) bool { return x.Key == worse.Key })] = again.Rows[i]
			}
		}
	}
}

// has says whether the run has measured an op through a caller at all.
func (r *Result) has(k Key) bool {
	return slices.ContainsFunc(r.Rows, func(x Row) bool { return x.Op == k.Op && x.Caller == k.Caller && x.Threads == k.Threads })
}

func change(before, after *Row) Change {
	c := Change{Key: before.Key, Copy: after.BesideCopy.Median / before.BesideCopy.Median}
	c.Worse = slower(before.BesideCopy, after.BesideCopy)
	old, now := common(before, after)
	if old == nil {
		return c
	}
	// Of a ratio, in which a larger number is better, the reciprocal is the time in units of the peer.
	c.Beside, c.Peer = old.Name, old.Ratio.Median/now.Ratio.Median
	c.Worse = c.Worse && slower(old.Ratio.Inverse(1), now.Ratio.Inverse(1))
	return c
}

// slower says whether quartiles do not even come near each other.
func slower(before, after Spread) bool { return after.Low > before.High*(1+Margin) }

// common is the peer that was the fastest before among those of both.
func common(before, after *Row) (old, now *Peer) {
	for i := range before.Peers {
		p := &before.Peers[i]
		j := slices.IndexFunc(after.Peers, func(x Peer) bool { return x.Name == p.Name && x.Ratio != nil })
		if p.Ratio == nil || j < 0 || old != nil && old.Time.Median <= p.Time.Median {
			continue
		}
		old, now = p, &after.Peers[j]
	}
	return old, now
}
