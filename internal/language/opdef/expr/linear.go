package expr

import (
	"fmt"
	"slices"
)

// Linear splits an expression into coef*name + rest, where neither part depends on the name. The result ok is false where the
// expression is not linear in the name.
func Linear(e *Expr, name string) (coef, rest *Expr, ok bool) {
	if !slices.Contains(e.Symbols(), name) {
		return constant(0), e, true
	}
	var coefs, rests [2]*Expr
	for i, arg := range e.Args {
		if i > 1 {
			return nil, nil, false
		}
		if coefs[i], rests[i], ok = Linear(arg, name); !ok {
			return nil, nil, false
		}
	}
	switch e.Op {
	case OpSymbol:
		return constant(1), constant(0), true
	case OpNeg:
		return combine(OpSub, constant(0), coefs[0]), combine(OpSub, constant(0), rests[0]), true
	case OpAdd, OpSub:
		return combine(e.Op, coefs[0], coefs[1]), combine(e.Op, rests[0], rests[1]), true
	case OpMul:
		if isZero(coefs[0]) {
			return combine(OpMul, rests[0], coefs[1]), combine(OpMul, rests[0], rests[1]), true
		}
		if isZero(coefs[1]) {
			return combine(OpMul, coefs[0], rests[1]), combine(OpMul, rests[0], rests[1]), true
		}
	}
	return nil, nil, false
}

func isZero(e *Expr) bool { return e.Op == OpConst && e.Value == 0 }

func isOne(e *Expr) bool { return e.Op == OpConst && e.Value == 1 }

func constant(v int64) *Expr { return &Expr{Op: OpConst, Value: v, Text: fmt.Sprint(v)} }

// combine joins two expressions, folding constants, sums with 0 and products with 0 or 1.
func combine(op Op, a, b *Expr) *Expr {
	switch {
	case a.Op == OpConst && b.Op == OpConst:
		if v, err := apply(op, []int64{a.Value, b.Value}); err == nil {
			return constant(v)
		}
	case op == OpMul && (isZero(a) || isOne(b)), op != OpMul && isZero(b):
		return a
	case op == OpMul && (isZero(b) || isOne(a)), op == OpAdd && isZero(a):
		return b
	}
	return &Expr{Op: op, Args: []*Expr{a, b}, Text: operand(a) + string(op) + operand(b)}
}

func operand(e *Expr) string {
	if len(e.Args) < 2 || e.Op == OpMin || e.Op == OpMax || e.Op == OpCeilDiv {
		return e.Text
	}
	return "(" + e.Text + ")"
}
