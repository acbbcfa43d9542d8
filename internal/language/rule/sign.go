package rule

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// nonNegative says whether an output dim cannot be negative: sizes of arrays never are, so neither are their sums,
// products, quotients and extremes.
func (p *Program) nonNegative(e *expr.Expr) bool {
	switch e.Op {
	case expr.OpLen:
		return true
	case expr.OpConst:
		return e.Value >= 0
	case expr.OpSymbol:
		for _, l := range p.Op.Lets {
			if l.Name == e.Name {
				return p.nonNegative(l.Expr)
			}
		}
		_, bound := p.Origin[e.Name]
		return bound || p.atLeastZero(e.Name)
	case expr.OpIndex:
		return p.atLeastZero(e.Name)
	case expr.OpMax:
		return slices.ContainsFunc(e.Args, p.nonNegative)
	case expr.OpIf:
		return p.nonNegative(e.Args[1]) && p.nonNegative(e.Args[2])
	case expr.OpMod:
		return p.nonNegative(e.Args[1])
	case expr.OpPow:
		return p.nonNegative(e.Args[0])
	case expr.OpAdd, expr.OpMul, expr.OpFloorDiv, expr.OpMin, expr.OpCeilDiv:
		return !slices.ContainsFunc(e.Args, func(a *expr.Expr) bool { return !p.nonNegative(a) })
	}
	return false
}

// atLeastZero says whether the range of an attr allows no negative numbers.
func (p *Program) atLeastZero(attr string) bool {
	return slices.ContainsFunc(p.Op.Attrs, func(a opdef.Attr) bool {
		low, ok := a.Min.(int64)
		return a.Name == attr && ok && low >= 0
	})
}

// hasValue says whether the expression has a value in 64 bits whatever sizes its names stand for.
func hasValue(e *expr.Expr) bool {
	switch e.Op {
	case expr.OpConst, expr.OpSymbol, expr.OpIndex, expr.OpLen:
		return true
	case expr.OpMin, expr.OpMax:
		return !slices.ContainsFunc(e.Args, func(a *expr.Expr) bool { return !hasValue(a) })
	case expr.OpIf:
		return hasValue(e.Args[1]) && hasValue(e.Args[2])
	case expr.OpFloorDiv, expr.OpMod, expr.OpCeilDiv:
		return hasValue(e.Args[0]) && e.Args[1].Op == expr.OpConst // which is not zero in a valid definition
	}
	return len(e.Symbols()) == 0
}
