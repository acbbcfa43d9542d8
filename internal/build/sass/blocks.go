package sass

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// block is a run of instructions, code[begin:end], that is entered at its first one and left at its last.
type block struct {
	begin, end int
	next       []int // indices of blocks
}

// blocks are the parts of a function, the entry first, as far as it can reach them without calls: subroutines lie behind.
func (l *listing) blocks() []block {
	if len(l.code) == 0 {
		return nil
	}
	leads := make([]bool, len(l.code)+1)
	leads[0], leads[len(l.code)] = true, true
	for _, at := range l.labels {
		leads[at] = true
	}
	for i := range l.code {
		if leaves(&l.code[i]) {
			leads[i+1] = true
		}
	}
	var all []block
	at := make([]int, len(l.code)+1) // the block of the instruction that begins it
	for i := range l.code {
		if leads[i] {
			at[i] = len(all)
			all = append(all, block{begin: i})
		}
		all[len(all)-1].end = i + 1
	}
	for b := range all {
		for _, to := range l.after(all[b].end - 1) {
			if to < len(l.code) && !slices.Contains(all[b].next, at[to]) {
				all[b].next = append(all[b].next, at[to])
			}
		}
	}
	return all
}

// leaves says whether an instruction may be followed by another than the next one.
func leaves(i *Instruction) bool {
	switch i.Base() {
	case "BRA", "BRX", "BRXU", "JMP", "JMX", "EXIT", "RET", "BSYNC", "KILL":
		return true
	}
	return false
}

// after are the indices of the instructions that may follow one which ends a block.
func (l *listing) after(at int) (to []int) {
	i := &l.code[at]
	if !leaves(i) {
		return []int{at + 1}
	}
	targets := i.Targets
	if i.Base() == "BSYNC" {
		targets = l.meeting(at)
	}
	if i.Base() == "RET" {
		targets = nil // to a caller
	}
	for _, label := range targets {
		if t, known := l.labels[label]; known {
			to = append(to, t)
		}
	}
	before, _, _ := strings.Cut(i.Args, "`")
	mayPass := i.Guard != "" && i.Guard != "@PT" || i.Base() == "BRA" && strings.TrimSpace(before) != "" || i.Has("DIV") || i.Has("CONV")
	if mayPass || i.Base() == "BSYNC" && len(to) == 0 {
		to = append(to, at+1)
	}
	return to
}

// meeting is where threads go on that met at a BSYNC: what the BSSY before it says of the same barrier.
func (l *listing) meeting(at int) []string {
	barrier := strings.Fields(strings.ReplaceAll(l.code[at].Args, ",", " "))
	for i := at - 1; i >= 0 && len(barrier) > 0; i-- {
		if l.code[i].Base() == "BSSY" && strings.HasPrefix(l.code[i].Args, barrier[0]+",") {
			return l.code[i].Targets
		}
	}
	return nil
}

// reachable are the blocks that the first one reaches, each after one from which it is reached, such that a block stands behind those
// that dominate it: in reverse postorder.
func reachable(all []block) []int {
	if len(all) == 0 {
		return nil
	}
	seen, next := make([]bool, len(all)), make([]int, len(all))
	var order []int
	for stack := []int{0}; len(stack) > 0; {
		b := stack[len(stack)-1]
		seen[b] = true
		if next[b] == len(all[b].next) {
			order = append(order, b)
			stack = stack[:len(stack)-1]
			continue
		}
		to := all[b].next[next[b]]
		next[b]++
		if !seen[to] {
			stack = append(stack, to)
		}
	}
	slices.Reverse(order)
	return order
}

// dominators give each reachable block the last one through which all ways to it lead, by the algorithm of Cooper, Harvey and
// Kennedy; -1 for blocks that cannot be reached.
func dominators(all []block, order []int) []int {
	place, dominator := make([]int, len(all)), make([]int, len(all))
	before := make([][]int, len(all))
	for i := range dominator {
		dominator[i] = -1
	}
	for i, b := range order {
		place[b] = i
		for _, to := range all[b].next {
			before[to] = append(before[to], b)
		}
	}
	dominator[order[0]] = order[0]
	for changed := true; changed; {
		changed = false
		for _, b := range order[1:] {
			common := -1
			for _, p := range before[b] {
				if dominator[p] >= 0 {
					common = meet(common, p, dominator, place)
				}
			}
			if common != dominator[b] {
				dominator[b], changed = common, true
			}
		}
	}
	return dominator
}

// meet is the last block that dominates both; the first may be -1 for none.
func meet(a, b int, dominator, place []int) int {
	if a < 0 {
		return b
	}
	for a != b {
		if place[a] > place[b] {
			a = dominator[a]
		} else {
			b = dominator[b]
		}
	}
	return a
}

// warp is how many threads run one instruction.
const warp = 32

// compute counts arithmetic, barriers and matrix products.
func (m *Mix) compute(i *Instruction) {
	if flops, isTensor := tensorFlops(i); isTensor {
		m.Tensor++
		m.TensorFlops += flops
		m.WGMMA = m.WGMMA || strings.Contains(i.Base(), "GMMA") || strings.HasPrefix(i.Base(), "UTC")
		return
	}
	if meets(i) {
		m.Barriers++
		return
	}
	if strings.Contains(i.Args, "-RZ, RZ") { // a number is put into a register
		return
	}
	m.Flops += warp * map[string]int{
		"FADD": 1, "FMUL": 1, "FFMA": 2, "FFMA32I": 2, "FADD2": 2, "FMUL2": 2, "FFMA2": 4,
		"HADD2": 2, "HMUL2": 2, "HFMA2": 4, "DADD": 1, "DMUL": 1, "DFMA": 2, "IDP": 8,
	}[i.Base()]
}

var (
	groupShape = regexp.MustCompile(`\.(\d+)x(\d+)x(\d+)`)
	warpShape  = regexp.MustCompile(`\.(\d{3,6})\b`)
)

// The shapes of the matrix instructions of a warp, M by N by K.
var warpShapes = map[string]int{
	"884": 8 * 8 * 4, "8816": 8 * 8 * 16, "8832": 8 * 8 * 32, "1684": 16 * 8 * 4, "1688": 16 * 8 * 8, "16816": 16 * 8 * 16,
	"16832": 16 * 8 * 32, "16864": 16 * 8 * 64, "168128": 16 * 8 * 128,
}

// tensorFlops are the operations of a matrix instruction for one warp. Those of a group are issued by its four warps.
func tensorFlops(i *Instruction) (flops int, isTensor bool) {
	base := i.Base()
	if !strings.HasSuffix(base, "MMA") || base == "HFMA2" {
		return 0, false
	}
	if shape := groupShape.FindStringSubmatch(i.Op); shape != nil {
		flops = 2
		for _, word := range shape[1:] {
			n, _ := strconv.Atoi(word) // digits
			flops *= n
		}
		return flops / 4, true
	}
	for _, shape := range warpShape.FindAllStringSubmatch(i.Op, -1) {
		if n := warpShapes[shape[1]]; n > 0 {
			return 2 * n, true
		}
	}
	return 0, true
}
