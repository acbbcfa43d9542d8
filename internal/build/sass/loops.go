package sass

import (
	"slices"
)

// body is a loop as a set of blocks.
type body struct {
	header int
	blocks map[int]bool
}

// bodies are the natural loops: a jump to a block that dominates it closes one, and those with one header are one loop. Outer ones
// stand before inner ones.
func bodies(all []block) []body {
	order := reachable(all)
	if order == nil {
		return nil
	}
	dominator := dominators(all, order)
	before := make([][]int, len(all))
	for _, b := range order {
		for _, to := range all[b].next {
			before[to] = append(before[to], b)
		}
	}
	var list []body
	for _, header := range order {
		loop := body{header, map[int]bool{header: true}}
		for _, from := range before[header] {
			if dominates(header, from, dominator) {
				loop.gather(from, before)
				loop.blocks[-1] = true // there is one
			}
		}
		if loop.blocks[-1] {
			delete(loop.blocks, -1)
			list = append(list, loop)
		}
	}
	slices.SortStableFunc(list, func(a, b body) int {
		if a.blocks[b.header] != b.blocks[a.header] {
			return map[bool]int{true: -1, false: 1}[a.blocks[b.header]]
		}
		return all[a.header].begin - all[b.header].begin
	})
	return list
}

func dominates(a, b int, dominator []int) bool {
	for b != a && dominator[b] != b {
		b = dominator[b]
	}
	return a == b
}

// gather adds all blocks from which one can be reached without passing the header.
func (l *body) gather(from int, before [][]int) {
	for todo := []int{from}; len(todo) > 0; {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !l.blocks[b] {
			l.blocks[b] = true
			todo = append(todo, before[b]...)
		}
	}
}

// function finds the loops of a listing and counts what they run.
func function(l *listing) Function {
	all := l.blocks()
	loops := bodies(all)
	f := Function{Loops: make([]Loop, len(loops))}
	for i, loop := range loops {
		f.Loops[i] = Loop{Begin: l.code[all[loop.header].begin].Address, Parent: -1, Depth: 1}
		for j := range i { // the last that holds it is the innermost
			if loops[j].blocks[loop.header] {
				f.Loops[i].Parent, f.Loops[i].Depth = j, f.Loops[j].Depth+1
			}
		}
	}
	for _, b := range reachable(all) {
		mix := mixOf(l.code[all[b].begin:all[b].end])
		f.All.Add(mix)
		inner := -1
		for i, loop := range loops {
			if loop.blocks[b] {
				f.Loops[i].All.Add(mix)
				f.Loops[i].End = max(f.Loops[i].End, l.code[all[b].end-1].Address)
				if inner < 0 || f.Loops[i].Depth > f.Loops[inner].Depth {
					inner = i
				}
			}
		}
		if inner < 0 {
			f.Once.Add(mix)
		} else {
			f.Loops[inner].Mix.Add(mix)
		}
	}
	f.mark(l.code)
	return f
}

// mark says which loops are hot.
func (f *Function) mark(code []Instruction) {
	for i := range f.Loops {
		l := &f.Loops[i]
		inside := slices.ContainsFunc(f.Loops, func(o Loop) bool { return o.Parent == i && o.All.busy() })
		l.Hot = l.All.busy() && !inside
	}
	for i := range f.Loops {
		for j := range f.Loops {
			if wide, narrow := &f.Loops[i], &f.Loops[j]; wide.Hot && narrow.Hot && narrow.isRestOf(wide, code) {
				narrow.Remainder = true
			}
		}
	}
	for i := range f.Loops {
		f.Loops[i].Hot = f.Loops[i].Hot && !f.Loops[i].Remainder
	}
}

// isRestOf says whether a loop does one by one what a loop before it has left of the same: it reads and writes as that one does, half
// as much at a time or less, and no threads met between them.
func (l *Loop) isRestOf(wide *Loop, code []Instruction) bool {
	loads, stores := l.Mix.Moved()
	wideLoads, wideStores := wide.Mix.Moved()
	if l.Parent != wide.Parent || l.Begin <= wide.End || 2*(loads+stores) > wideLoads+wideStores || wide.Mix.Tensor > 0 ||
		loads > 0 != (wideLoads > 0) || stores > 0 != (wideStores > 0) {
		return false
	}
	for i := range code {
		if code[i].Address > wide.End && code[i].Address < l.Begin && meets(&code[i]) {
			return false
		}
	}
	return true
}
