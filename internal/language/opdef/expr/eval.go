package expr

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Env gives the values of names to an evaluation. Booleans count as 0 and 1; a list of tensors as any list of its length.
type Env interface {
	// Int returns the number that a name stands for, and whether there is one.
	Int(name string) (int64, bool)
	// List returns the numbers of the list that a name stands for, and whether there is one.
	List(name string) ([]int64, bool)
	// Float returns the number that an attribute of floating point has, and whether there is one.
	Float(name string) (float64, bool)
	// Word returns the string that an attribute has, or the short name of the dtype that a variable stands for, and
	// whether there is one.
	Word(name string) (string, bool)
}

// NoValues is the Env in which no name has a value: only constant expressions can be computed in it.
type NoValues struct{}

// Int says that the name stands for no number.
func (NoValues) Int(string) (int64, bool) { return 0, false }

// List says that the name stands for no list.
func (NoValues) List(string) ([]int64, bool) { return nil, false }

// Float says that the name stands for no number.
func (NoValues) Float(string) (float64, bool) { return 0, false }

// Word says that the name stands for no string.
func (NoValues) Word(string) (string, bool) { return "", false }

// An evaluation fails with one of these errors, or because a name has no value.
var (
	ErrOverflow     = errors.New("value does not fit in 64 bits")
	ErrZeroDivision = errors.New("division by zero")
	ErrNotInteger   = errors.New("value is not an integer")
)

// Eval computes the expression in 64-bit integers. Division rounds down and the remainder has the sign of the divisor, as in
// Python. Comparison and logic give 0 or 1.
func (e *Expr) Eval(env Env) (int64, error) {
	switch e.Op {
	case OpConst:
		return e.Value, nil
	case OpSymbol:
		if v, ok := env.Int(e.Name); ok {
			return v, nil
		}
		return 0, fmt.Errorf("%s has no value", e.Name)
	case OpIndex, OpSum, OpLen:
		return e.evalList(env)
	case OpAnd, OpOr:
		return e.evalLogic(env)
	case OpIf:
		return e.evalChoice(env)
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
		if v, err, ok := e.compareOthers(env); ok {
			return v, err
		}
	case OpFloat, OpAligned, OpText:
		return 0, fmt.Errorf("%s: %w", e.Text, ErrNotInteger)
	}
	args := make([]int64, len(e.Args))
	for i, arg := range e.Args {
		v, err := arg.Eval(env)
		if err != nil {
			return 0, err
		}
		args[i] = v
	}
	v, err := apply(e.Op, args)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", e.Text, err)
	}
	return v, nil
}

// evalLogic leaves out the right side where the left one decides, so that "n == 0 or m % n == 0" is safe.
func (e *Expr) evalLogic(env Env) (int64, error) {
	left, err := e.Args[0].Eval(env)
	if err != nil || (left != 0) == (e.Op == OpOr) {
		return asInt(left != 0), err
	}
	right, err := e.Args[1].Eval(env)
	return asInt(right != 0), err
}

// evalChoice computes only the side that the condition chooses.
func (e *Expr) evalChoice(env Env) (int64, error) {
	holds, err := e.Args[0].Eval(env)
	if err != nil {
		return 0, err
	}
	if holds != 0 {
		return e.Args[1].Eval(env)
	}
	return e.Args[2].Eval(env)
}

func (e *Expr) evalList(env Env) (int64, error) {
	list, ok := env.List(e.Name)
	if !ok {
		return 0, fmt.Errorf("%s has no value", e.Name)
	}
	switch e.Op {
	case OpLen:
		return int64(len(list)), nil
	case OpSum:
		total := int64(0)
		for _, v := range list {
			var err error
			if total, err = add(total, v); err != nil {
				return 0, fmt.Errorf("%s: %w", e.Text, err)
			}
		}
		return total, nil
	}
	i, err := e.Args[0].Eval(env)
	if err != nil {
		return 0, err
	}
	if i < 0 || i >= int64(len(list)) {
		return 0, fmt.Errorf("%s: index out of range, %s has %d elements", e.Text, e.Name, len(list))
	}
	return list[i], nil
}

func apply(op Op, a []int64) (int64, error) {
	switch op {
	case OpNeg:
		return sub(0, a[0])
	case OpNot:
		return asInt(a[0] == 0), nil
	case OpMin:
		return slices.Min(a), nil
	case OpMax:
		return slices.Max(a), nil
	case OpAdd:
		return add(a[0], a[1])
	case OpSub:
		return sub(a[0], a[1])
	case OpMul:
		return mul(a[0], a[1])
	case OpPow:
		return pow(a[0], a[1])
	case OpFloorDiv, OpMod, OpCeilDiv:
		return divide(op, a[0], a[1])
	}
	return compare(op, a[0], a[1])
}

func asInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func compare[T int64 | float64](op Op, a, b T) (int64, error) {
	switch op {
	case OpEq:
		return asInt(a == b), nil
	case OpNe:
		return asInt(a != b), nil
	case OpLt:
		return asInt(a < b), nil
	case OpLe:
		return asInt(a <= b), nil
	case OpGt:
		return asInt(a > b), nil
	case OpGe:
		return asInt(a >= b), nil
	}
	return 0, fmt.Errorf("unknown operator %q", op)
}

func add(a, b int64) (int64, error) {
	if c := a + b; (c > a) == (b > 0) {
		return c, nil
	}
	return 0, ErrOverflow
}

func sub(a, b int64) (int64, error) {
	if c := a - b; (c < a) == (b > 0) {
		return c, nil
	}
	return 0, ErrOverflow
}

func mul(a, b int64) (int64, error) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	switch {
	case hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative:
		return 0, ErrOverflow
	case negative:
		return int64(-lo), nil
	}
	return int64(lo), nil
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// pow multiplies by squaring; the base is squared only while more bits follow, as the last square may overflow in vain.
func pow(base, exponent int64) (int64, error) {
	if exponent < 0 {
		return 0, ErrNotInteger
	}
	result := int64(1)
	for {
		var err error
		if exponent&1 == 1 {
			if result, err = mul(result, base); err != nil {
				return 0, err
			}
		}
		if exponent >>= 1; exponent == 0 {
			return result, nil
		}
		if base, err = mul(base, base); err != nil {
			return 0, err
		}
	}
}

func divide(op Op, a, b int64) (int64, error) {
	if b == 0 {
		return 0, ErrZeroDivision
	}
	if a == math.MinInt64 && b == -1 {
		if op == OpMod {
			return 0, nil
		}
		return 0, ErrOverflow
	}
	quotient, rest := a/b, a%b
	sameSign := (rest < 0) == (b < 0)
	switch {
	case op == OpMod && rest != 0 && !sameSign:
		return rest + b, nil
	case op == OpMod:
		return rest, nil
	case op == OpFloorDiv && rest != 0 && !sameSign:
		return quotient - 1, nil
	case op == OpCeilDiv && rest != 0 && sameSign:
		return quotient + 1, nil
	}
	return quotient, nil
}
