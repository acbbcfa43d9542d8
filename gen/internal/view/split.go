package view

import (
	"fmt"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Split gives the assignments that compute an expression in lines of at most the given width, as the printer writes them:
// of an expression that is too long, the largest part that fits gets a line and a name of its own.
func Split(p Printer, symbol string, e *expr.Expr, width int) []opdef.Let {
	var out []opdef.Let
	for n := 1; ; n++ {
		line := p.Name(symbol) + " = " + p.Print(e)
		part := &expr.Expr{Op: expr.OpSymbol, Name: fmt.Sprintf("_%s%d", symbol, n)}
		before := len(p.Name(part.Name) + " = ")
		found := largest(p, e.Args, width-before, before)
		if len(line) <= width || found == nil {
			return append(out, opdef.Let{Name: symbol, Expr: e})
		}
		out = append(out, opdef.Let{Name: part.Name, Expr: found})
		e = replace(e, found, part)
	}
}

// largest is the longest compound part of the expressions whose text is at most so long and longer than some.
func largest(p Printer, from []*expr.Expr, most, least int) *expr.Expr {
	var found *expr.Expr
	for _, e := range from {
		if len(e.Args) == 0 { // such as a word, which is nothing without what it is compared with
			continue
		}
		if n := len(p.Print(e)); n <= least {
			continue
		} else if n > most {
			e = largest(p, e.Args, most, least)
		}
		if e != nil && (found == nil || len(p.Print(e)) > len(p.Print(found))) {
			found = e
		}
	}
	return found
}

// replace returns the expression with another part instead of one.
func replace(e, old, part *expr.Expr) *expr.Expr {
	if e == old {
		return part
	}
	copied := *e
	copied.Args = make([]*expr.Expr, len(e.Args))
	for i, a := range e.Args {
		copied.Args[i] = replace(a, old, part)
	}
	return &copied
}
