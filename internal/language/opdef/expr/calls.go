package expr

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
)

// calls holds the functions and how many arguments each takes; -1 means two or more.
var calls = map[string]int{"min": -1, "max": -1, "ceildiv": 2, "sum": 1, "len": 1, "aligned": 2, "is_pow2": 1}

// truths are the operations whose value is true or false.
var truths = []Op{OpAnd, OpOr, OpNot, OpEq, OpNe, OpLt, OpLe, OpGt, OpGe, OpAligned}

// call parses the arguments of a function whose name was just read.
func (p *parser) call(col int, name string) *Expr {
	want, known := calls[name]
	if !known {
		p.fail(col, diag.DidYouMean(name, slices.Sorted(maps.Keys(calls)), "functions are min, max, ceildiv, sum, len, is_pow2 and aligned"), "unknown function %q", name)
	}
	p.next()
	var args []*Expr
	for p.tok != ")" {
		args = append(args, p.choice())
		if p.tok != "," {
			break
		}
		p.next()
	}
	p.expect(")")
	if want == -1 && len(args) < 2 || want >= 0 && len(args) != want {
		p.fail(col, "", "%s takes %s, got %d", name, arity(want), len(args))
	}
	if name == "is_pow2" {
		if slices.Contains(truths, args[0].Op) {
			p.fail(args[0].Col, "", "is_pow2 takes a number, got %q", args[0].Text)
		}
		return p.isPow2(col, args[0])
	}
	e := p.node(col, Op(name), args...)
	if name == "sum" || name == "len" || name == "aligned" { // these take a name, not a value
		if args[0].Op != OpSymbol {
			p.fail(args[0].Col, "", "%s takes a name, got %q", name, args[0].Text)
		}
		e.Name, e.Args = args[0].Name, args[1:]
	}
	return e
}

// isPow2 asks whether a number is a power of two: those of 64 bits divide the largest one.
func (p *parser) isPow2(col int, n *Expr) *Expr {
	number := func(v int64) *Expr {
		e := p.node(col, OpConst)
		e.Value = v
		return e
	}
	positive := p.node(col, OpGt, n, number(0))
	return p.node(col, OpAnd, positive, p.node(col, OpEq, p.node(col, OpMod, number(1<<62), n), number(0)))
}

func arity(n int) string {
	switch n {
	case -1:
		return "two or more arguments"
	case 1:
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
