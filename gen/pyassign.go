package gen

import (
	"fmt"

	"github.com/opcast/opcast/internal/opdef/expr"
)

// assign prints "name = e" in lines of at most the given width: of an expression that is too long, the largest part that
// fits gets a line and a name of its own.
func (p printer) assign(symbol string, e *expr.Expr, width int) []string {
	var lines []string
	for n := 1; ; n++ {
		line := p.name(symbol) + " = " + p.print(e)
		part := &expr.Expr{Op: expr.OpSymbol, Name: fmt.Sprintf("_%s%d", symbol, n)}
		before := p.name(part.Name) + " = "
		largest := p.largest(e.Args, width-len(before), len(before))
		if len(line) <= width || largest == nil {
			return append(lines, line)
		}
		lines = append(lines, before+p.print(largest))
		e = replace(e, largest, part)
	}
}

// largest is the longest compound part of the expressions whose text is at most so long and longer than some.
func (p printer) largest(from []*expr.Expr, most, least int) *expr.Expr {
	var found *expr.Expr
	for _, e := range from {
		if n := len(p.print(e)); len(e.Args) == 0 || n <= least {
			continue
		} else if n > most {
			e = p.largest(e.Args, most, least)
		}
		if e != nil && (found == nil || len(p.print(e)) > len(p.print(found))) {
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
