package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// view is what the templates show.
type view struct {
	*Report
	Counts *Counts
	Groups []*Counts
	Heads  []pair
	Rows   []line
	Bad    []Result
	// Facts are the environment, sorted; Slowest the checks that took most time.
	Facts   []pair
	Slowest []*Counts
	Kinds   []*MutantCounts
	// Fuzzed adds up the random calls.
	Fuzzed struct {
		Calls        int
		Reached, All float64
	}
	// Telling are the mutants that were not killed as expected.
	Telling []Mutant
	Data    *compact
	// Style and Scripts are trusted: they are files of this package. Policy allows the browser these scripts and
	// nothing else.
	assets
}

// pair is a name and what is said of it.
type pair struct{ Name, Value string }

// line is a line of the matrix.
type line struct {
	Op    string
	Cells []square
}

// square is what the results of one op through one adaptor come to, with a mark for each group.
type square struct {
	Counts
	Op, Adaptor string
	Marks       []*Counts
}

// maxShown bounds how many failures the page lists where there is no JavaScript.
const maxShown = 200

// view collects what the page shows.
func (r *Report) view(scripts map[string]string) *view {
	v := &view{Report: r, Counts: r.Total(), Groups: r.Groups(), Data: r.data(scripts), assets: pageAssets}
	v.matrix()
	for _, result := range r.Results {
		if result.Status.Bad() && len(v.Bad) < maxShown {
			v.Bad = append(v.Bad, result)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Environment)) {
		v.Facts = append(v.Facts, pair{name, r.Environment[name]})
	}
	for _, x := range r.Random {
		v.Fuzzed.Calls += int(x.Calls)
		v.Fuzzed.Reached += float64(x.Reached)
		v.Fuzzed.All += float64(x.Calls)
	}
	v.slowest()
	v.mutants()
	return v
}

// matrix counts the results of each op through each adaptor, and of each group in them.
func (v *view) matrix() {
	type place struct{ op, adaptor, group string }
	counts := map[place]*Counts{}
	ops, adaptors := map[string]bool{}, map[string]bool{}
	for i := range v.Results {
		x := &v.Results[i]
		ops[x.Op], adaptors[x.Adaptor] = true, true
		for _, p := range []place{{x.Op, x.Adaptor, x.Group}, {x.Op, x.Adaptor, ""}} {
			if counts[p] == nil {
				counts[p] = &Counts{Name: p.group}
			}
			counts[p].Add(x)
		}
	}
	columns := slices.Sorted(maps.Keys(adaptors))
	for _, name := range columns {
		v.Heads = append(v.Heads, pair{name, v.Adaptors[name]})
	}
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		row := line{Op: op}
		for _, name := range columns {
			cell := square{Op: op, Adaptor: name}
			if all := counts[place{op, name, ""}]; all != nil {
				cell.Counts = *all
			}
			for _, g := range v.Groups {
				cell.Marks = append(cell.Marks, cmp.Or(counts[place{op, name, g.Name}], &Counts{Name: g.Name}))
			}
			row.Cells = append(row.Cells, cell)
		}
		v.Rows = append(v.Rows, row)
	}
}

// shownSlowest is how many of the slowest checks the page shows.
const shownSlowest = 12

// slowest adds up the time of each check through each adaptor, all ops together.
func (v *view) slowest() {
	by := map[string]*Counts{}
	for i := range v.Results {
		name := v.Results[i].Adaptor + " · " + v.Results[i].Check
		if by[name] == nil {
			by[name] = &Counts{Name: name}
		}
		by[name].Add(&v.Results[i])
	}
	v.Slowest = slices.SortedFunc(maps.Values(by), func(a, b *Counts) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Name, b.Name))
	})
	v.Slowest = v.Slowest[:min(len(v.Slowest), shownSlowest)]
}

// mutants counts the mutants by kind.
func (v *view) mutants() {
	by := map[string]*MutantCounts{}
	for _, m := range v.Mutants {
		if by[m.Kind] == nil {
			by[m.Kind] = &MutantCounts{Name: m.Kind}
		}
		by[m.Kind].Add(&m)
		if m.Verdict != Killed || !m.expected() {
			v.Telling = append(v.Telling, m)
		}
	}
	v.Kinds = slices.SortedFunc(maps.Values(by), func(a, b *MutantCounts) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(v.Telling, func(a, b Mutant) int {
		return cmp.Or(cmp.Compare(grade(a), grade(b)), cmp.Compare(a.ID, b.ID))
	})
}

// grade orders mutants: what nobody noticed comes first.
func grade(m Mutant) int {
	return slices.Index([]string{Survived, Killed, Equivalent, NotRun}, m.Verdict)
}
