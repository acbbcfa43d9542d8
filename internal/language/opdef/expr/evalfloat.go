package expr

import (
	"fmt"
	"math"
)

// EvalFloat computes the expression in float64, for defaults such as "D ** -0.5". It fails on comparison and logic.
func (e *Expr) EvalFloat(env Env) (float64, error) {
	switch e.Op {
	case OpFloat:
		return e.Float, nil
	case OpSymbol:
		if v, ok := env.Float(e.Name); ok {
			return v, nil
		}
		v, err := e.Eval(env)
		return float64(v), err
	case OpIf:
		holds, err := e.Args[0].Eval(env)
		if err != nil {
			return 0, err
		}
		return e.Args[2-min(holds, 1)].EvalFloat(env)
	case OpConst, OpIndex, OpSum, OpLen:
		v, err := e.Eval(env)
		return float64(v), err
	}
	args := make([]float64, len(e.Args))
	for i, arg := range e.Args {
		v, err := arg.EvalFloat(env)
		if err != nil {
			return 0, err
		}
		args[i] = v
	}
	v, err := applyFloat(e.Op, args)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = ErrOverflow
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", e.Text, err)
	}
	return v, nil
}

func applyFloat(op Op, a []float64) (float64, error) {
	switch op {
	case OpNeg:
		return -a[0], nil
	case OpMin, OpMax:
		return extreme(op, a), nil
	case OpAdd:
		return a[0] + a[1], nil
	case OpSub:
		return a[0] - a[1], nil
	case OpMul:
		return a[0] * a[1], nil
	case OpPow:
		if a[0] == 0 && a[1] < 0 {
			return 0, ErrZeroDivision
		}
		return math.Pow(a[0], a[1]), nil
	case OpFloorDiv, OpCeilDiv, OpMod:
		if a[1] == 0 {
			return 0, ErrZeroDivision
		}
		return divideFloat(op, a[0], a[1]), nil
	}
	return 0, fmt.Errorf("%q has no number", op)
}

func extreme(op Op, a []float64) float64 {
	best := a[0]
	for _, v := range a[1:] {
		if (v < best) == (op == OpMin) && v != best {
			best = v
		}
	}
	return best
}

func divideFloat(op Op, a, b float64) float64 {
	switch op {
	case OpFloorDiv:
		return math.Floor(a / b)
	case OpCeilDiv:
		return math.Ceil(a / b)
	}
	rest := math.Mod(a, b)
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b
	}
	return rest
}
