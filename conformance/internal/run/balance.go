package run

import (
	"cmp"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
)

// firstOp is how many seconds a process loses with the first op of a framework: imports, compilers, processes of its own.
// It keeps what goes through one framework together as long as the parts stay about equal.
const firstOp = 12

// split cuts the cells where fewer frameworks call than there are processes, as for one op through one framework: parts get the
// checks in turn. What needs no framework of its own stays whole, since it takes little time.
func split(cells []Cell, n int) []Cell {
	count := 0
	for _, c := range cells {
		if heavy(c) {
			count++
		}
	}
	if count == 0 || count >= n {
		return cells
	}
	parts := (n + count - 1) / count
	var out []Cell
	for _, c := range cells {
		if !heavy(c) {
			out = append(out, c)
			continue
		}
		for part := range parts {
			piece := c
			piece.Checks = nil
			for i := part; i < len(c.Checks); i += parts {
				piece.Checks = append(piece.Checks, c.Checks[i])
			}
			if len(piece.Checks) > 0 {
				out = append(out, piece)
			}
		}
	}
	return out
}

// heavy reports whether a cell needs a framework.
func heavy(c Cell) bool {
	return c.Caller != calls.DefinitionName && !calls.IsBare(calls.StubCaller{CallerName: c.Caller})
}

// balance distributes cells over at most n parts of about the same duration: the longest first, each to the part that has
// least so far. What never ran counts like the mean of its caller, or a second.
func balance(cells []Cell, n int, known map[[2]string]float64) [][]Cell {
	sum, count := map[string]float64{}, map[string]float64{}
	for key, seconds := range known {
		sum[key[1]] += seconds
		count[key[1]]++
	}
	weight := func(c Cell) float64 {
		name := c.Caller
		if seconds, ok := known[[2]string{c.Op.Name, name}]; ok {
			return seconds
		}
		if count[name] > 0 {
			return sum[name] / count[name]
		}
		return 1
	}
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight(cells[b]), weight(cells[a])) })
	chosen := make([]jobShare, n)
	for _, i := range order {
		least := slices.MinFunc(places(n), func(a, b int) int {
			return cmp.Compare(chosen[a].after(cells[i], weight(cells[i])), chosen[b].after(cells[i], weight(cells[i])))
		})
		chosen[least].add(i, cells[i], weight(cells[i]))
	}
	var out [][]Cell
	for _, part := range chosen {
		if len(part.cells) == 0 {
			continue
		}
		slices.Sort(part.cells)
		var list []Cell
		for _, i := range part.cells {
			list = append(list, cells[i])
		}
		out = append(out, list)
	}
	return out
}

// jobShare is what one process gets: cells by number, their seconds, and the frameworks that it begins.
type jobShare struct {
	cells   []int
	seconds float64
	begun   map[string]bool
}

// after is how long the share takes with another cell.
func (s *jobShare) after(c Cell, seconds float64) float64 {
	if s.begun[c.Caller] || !heavy(c) {
		return s.seconds + seconds
	}
	return s.seconds + seconds + firstOp
}

func (s *jobShare) add(i int, c Cell, seconds float64) {
	s.cells, s.seconds = append(s.cells, i), s.after(c, seconds)
	if s.begun == nil {
		s.begun = map[string]bool{}
	}
	s.begun[c.Caller] = true
}

// places are the numbers below n.
func places(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
