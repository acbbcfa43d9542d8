package expr

import "slices"

// Symbols returns the names that the expression reads, sorted and each once. The argument of aligned is not among
// them, as its value is not read.
func (e *Expr) Symbols() []string {
	var names []string
	e.Walk(func(n *Expr) {
		if n.Name != "" && n.Op != OpAligned {
			names = append(names, n.Name)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Numbers are the names in the expression that stand for one number each, as often as they stand there: not those of lists,
// as in sum(n) and len(xs).
func (e *Expr) Numbers() (names []string) {
	e.Walk(func(n *Expr) {
		if n.Op == OpSymbol {
			names = append(names, n.Name)
		}
	})
	return names
}

// IsInteger says whether the value is an integer whatever the names stand for. It is where the expression holds neither a
// number with a decimal point nor a power.
func (e *Expr) IsInteger() bool {
	whole := true
	e.Walk(func(n *Expr) { whole = whole && n.Op != OpFloat && n.Op != OpPow })
	return whole
}

// Walk visits the expression's nodes, parents first.
func (e *Expr) Walk(visit func(*Expr)) {
	visit(e)
	for _, arg := range e.Args {
		arg.Walk(visit)
	}
}

// Nodes returns how many nodes the tree of an expression has.
func Nodes(e *Expr) int {
	n := 0
	e.Walk(func(*Expr) { n++ })
	return n
}

// Conjuncts splits conditions at their outer "and"s.
func Conjuncts(conditions []*Expr) (parts []*Expr) {
	for _, e := range conditions {
		if e.Op == OpAnd {
			parts = append(parts, Conjuncts(e.Args)...)
		} else {
			parts = append(parts, e)
		}
	}
	return parts
}
