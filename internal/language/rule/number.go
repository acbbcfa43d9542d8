package rule

import (
	"fmt"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// isArray is the rule that an argument is an array, or the number that may be in its place.
func (e *evaluation) isArray(r Rule, v Value) error {
	op := e.program.Op
	i := op.InputIndex(r.Arg)
	takes := i >= 0 && op.TakesNumber(&op.Inputs[i])
	switch {
	case takes && v.Number != nil:
		return e.number(&op.Inputs[i], v)
	case takes && v.NotArray != "":
		return expected("TypeError", r.Arg, "%s or %s, got %s", e.call.Framework, op.NumberType(&op.Inputs[i]), v.NotArray)
	case v.NotArray != "":
		return expected("TypeError", r.Arg, "%s, got %s", e.call.Framework, v.NotArray)
	}
	return nil
}

// number judges a number, which is an array without dims for the other rules.
func (e *evaluation) number(in *opdef.Arg, v Value) error {
	kind, long := e.program.Op.NumberType(in), e.numberDType(in)
	_, isBool := v.Number.(bool)
	_, isFloat := v.Number.(float64)
	if isBool != (kind == "bool") || isFloat && kind == "int" {
		return expected("TypeError", in.Name, "%s, got %s", kind, v.NotArray)
	}
	i := slices.IndexFunc(dtype.Table, func(d dtype.DType) bool { return d.Long == long })
	if n, isInt := v.Number.(int64); isInt && kind == "int" && i >= 0 {
		low, high := integers(&dtype.Table[i])
		if err := within(in.Name, float64(n), Number(n), fmt.Sprint(low), fmt.Sprint(high), float64(low), float64(high)); err != nil {
			return err
		}
	}
	value := float(v.Number)
	text := Number(value)
	if n, isInt := v.Number.(int64); isInt && kind == "int" {
		text = Number(n)
	}
	low, lowText := limit(in.Min, math.Inf(-1))
	high, highText := limit(in.Max, math.Inf(1))
	if err := within(in.Name, value, text, lowText, highText, low, high); err != nil {
		return err
	}
	e.arrays[in.Name] = Value{Given: true, DType: long, Device: e.call.Inputs[e.program.Op.Inputs[0].Name].Device, Shape: []int64{}}
	return nil
}

// within compares a number with the ends of a range, which are also given as texts.
func within(arg string, value float64, text, lowText, highText string, low, high float64) error {
	if !(value >= low) {
		return expected("ValueError", arg, "at least %s, got %s", lowText, text)
	}
	if !(value <= high) {
		return expected("ValueError", arg, "at most %s, got %s", highText, text)
	}
	return nil
}

// limit is a bound that is the same in every call, with its text; others are not known before the call.
func limit(bound *expr.Expr, otherwise float64) (value float64, text string) {
	if bound == nil || len(bound.Symbols()) > 0 {
		return otherwise, ""
	}
	exact, err := bound.EvalExact(expr.NoValues{})
	if err != nil {
		return otherwise, ""
	}
	value, _ = exact.Float64()
	if exact.IsInt() {
		return value, exact.Num().String()
	}
	return value, Number(value)
}

// integers is the range of an integer dtype, as far as 64 bits with a sign reach.
func integers(d *dtype.DType) (low, high int64) {
	if d.Code == 0 {
		return -1 << (d.Bits - 1), 1<<(d.Bits-1) - 1
	}
	if d.Bits == 64 {
		return 0, math.MaxInt64
	}
	return 0, 1<<d.Bits - 1
}

// numberDType is the dtype of a number by its long name: that of the input, or of an array with the same variable.
func (e *evaluation) numberDType(in *opdef.Arg) string {
	op := e.program.Op
	if in.Type.Var == "" {
		return Long([]string{in.Type.DType})[0]
	}
	i := slices.IndexFunc(op.DTypes, func(d opdef.DTypeVar) bool { return d.Name == in.Type.Var })
	allowed := Long(op.DTypes[i].OneOf)
	given := e.call.Inputs[in.Name]
	for _, k := range op.Sharing(in.Type.Var) {
		if other := e.call.Inputs[op.Inputs[k].Name]; other.DType != "" {
			given = other
			break
		}
	}
	if slices.Contains(allowed, given.DType) {
		return given.DType
	}
	return allowed[0] // which the rules of its array refuse
}
