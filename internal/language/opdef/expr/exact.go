package expr

import (
	"errors"
	"fmt"
	"math/big"
)

// maxExactBits bounds the integers of EvalExact: no bound of an element needs more.
const maxExactBits = 1 << 12

// EvalExact computes the expression without rounding, in integers of any size, so that a bound such as "2 ** 64 - 1" keeps all
// of its digits. What holds numbers that are no integers is computed as EvalFloat does.
func (e *Expr) EvalExact(env Env) (*big.Rat, error) {
	n, err := e.evalBig(env)
	if err == nil {
		return new(big.Rat).SetInt(n), nil
	}
	if !errors.Is(err, ErrNotInteger) {
		return nil, err
	}
	v, err := e.EvalFloat(env)
	if err != nil {
		return nil, err
	}
	return new(big.Rat).SetFloat64(v), nil // EvalFloat gives no infinity
}

// BoundText is the value of a bound as the library prints it: integers with all of their digits, other numbers with six. What
// the library computes in floating point is printed as such.
func (e *Expr) BoundText(value *big.Rat) string {
	if value.IsInt() && (e.IsInteger() || len(e.Symbols()) == 0) {
		return value.Num().String()
	}
	v, _ := value.Float64()
	return fmt.Sprintf("%.6g", v) // as the library's Number
}

func (e *Expr) evalBig(env Env) (*big.Int, error) {
	switch e.Op {
	case OpConst, OpIndex, OpSum, OpLen:
		v, err := e.Eval(env)
		return big.NewInt(v), err
	case OpSymbol:
		if _, ok := env.Float(e.Name); ok {
			return nil, ErrNotInteger
		}
		v, err := e.Eval(env)
		return big.NewInt(v), err
	case OpIf:
		holds, err := e.Args[0].Eval(env)
		if err != nil {
			return nil, err
		}
		return e.Args[2-min(holds, 1)].evalBig(env)
	}
	args := make([]*big.Int, len(e.Args))
	for i, arg := range e.Args {
		v, err := arg.evalBig(env)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	v, err := applyBig(e.Op, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Text, err)
	}
	return v, nil
}

func applyBig(op Op, a []*big.Int) (*big.Int, error) {
	out := new(big.Int)
	switch op {
	case OpNeg:
		return out.Neg(a[0]), nil
	case OpMin, OpMax:
		for i, v := range a {
			if i == 0 || (v.Cmp(out) < 0) == (op == OpMin) {
				out = v
			}
		}
		return out, nil
	case OpAdd:
		return out.Add(a[0], a[1]), nil
	case OpSub:
		return out.Sub(a[0], a[1]), nil
	case OpMul:
		return out.Mul(a[0], a[1]), nil
	case OpPow:
		return powBig(a[0], a[1])
	case OpFloorDiv, OpMod, OpCeilDiv:
		return divideBig(op, a[0], a[1])
	}
	return nil, ErrNotInteger // of floating point, or no number
}

func powBig(base, exponent *big.Int) (*big.Int, error) {
	switch {
	case exponent.Sign() < 0:
		return nil, ErrNotInteger
	case !exponent.IsInt64() || exponent.Int64()*int64(base.BitLen()) > maxExactBits || exponent.Int64() > maxExactBits:
		return nil, ErrOverflow
	}
	return new(big.Int).Exp(base, exponent, nil), nil
}

// divideBig rounds down, or up; the rest has the sign of the divisor.
func divideBig(op Op, a, b *big.Int) (*big.Int, error) {
	if b.Sign() == 0 {
		return nil, ErrZeroDivision
	}
	quotient, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	sameSign := (rest.Sign() < 0) == (b.Sign() < 0)
	one := big.NewInt(1)
	switch {
	case op == OpMod && rest.Sign() != 0 && !sameSign:
		return rest.Add(rest, b), nil
	case op == OpMod:
		return rest, nil
	case op == OpFloorDiv && rest.Sign() != 0 && !sameSign:
		return quotient.Sub(quotient, one), nil
	case op == OpCeilDiv && rest.Sign() != 0 && sameSign:
		return quotient.Add(quotient, one), nil
	}
	return quotient, nil
}
