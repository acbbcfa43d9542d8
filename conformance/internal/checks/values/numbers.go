package values

import (
	"maps"
	"math"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

var numbersCheck = check.Check{
	ID: "numbers", Group: check.GroupValues, Profile: check.ProfileFast,
	Doc:     "a number in the place of an input without dims gives the same bits as the array, or our error for a wrong type or range",
	Needs:   check.When((*opdef.Op).HasNumbers, "no input can be a number"),
	Foreign: check.AboutGenerated,
	Run:     check.WithFewerDTypes(checkNumbers),
}

// checkNumbers gives the values of arrays without dims as numbers of Python and of NumPy, all and one by one, then numbers that must
// be refused.
func checkNumbers(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		want, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		numbers := numbersOf(c)
		if err := equalNumbers(t, c, numbers, want); err != nil {
			return err
		}
		return wrongNumbers(t, c, numbers)
	})
}

// wrongNumbers makes the calls that must be refused: a number of a wrong type or out of range, and a wrong array beside right numbers.
func wrongNumbers(t *check.T, c *cases.Case, numbers map[int]any) error {
	program := rule.Compile(t.Op)
	refused := func(what string, changed map[int]any) error {
		call, err := changedCall(t, c, changed)
		if err != nil {
			return err
		}
		expected := invalid.ExpectedError(program, call, t.Caller, t.Env.Device)
		if expected == nil {
			return nil
		}
		result, err := t.Call(call, c.Name+", "+what)
		if err != nil {
			return err
		}
		t.ExpectError(call, c.Name+", "+what, result, expected)
		return nil
	}
	wrong := []any{true, 0.5, int64(1), "1", int64(math.MinInt64), int64(math.MaxInt64), math.Inf(-1), math.Inf(1)}
	if !calls.IsBare(t.Caller) { // which see numbers of Python
		wrong = append(wrong, calls.NumPyNumber{Value: true}, calls.NumPyNumber{Value: 0.5}, calls.NumPyNumber{Value: int64(1)})
	}
	for i := range numbers {
		for _, v := range wrong {
			if err := refused("a wrong number for "+t.Op.Inputs[i].Name, map[int]any{i: v}); err != nil {
				return err
			}
		}
	}
	beside := maps.Clone(numbers)
	beside[0] = &calls.Tensor{Array: ndarray.New(dtype.Must("u64"), c.Inputs[0].Shape)}
	return refused("a wrong array beside numbers", beside)
}

// equalNumbers makes the calls that give the same bits. A condition may refuse the dtype that a number has.
func equalNumbers(t *check.T, c *cases.Case, numbers map[int]any, want *calls.Result) error {
	program := rule.Compile(t.Op)
	give := func(what, mode string, changed map[int]any) error {
		call, err := changedCall(t, c, changed)
		if err != nil {
			return err
		}
		expected, name := invalid.ExpectedError(program, call, t.Caller, t.Env.Device), c.Name+", "+what
		if expected != nil && mode != "eager" {
			return nil
		}
		call.Mode = mode
		got, err := t.Call(call, name)
		if err != nil {
			return err
		}
		if expected != nil {
			t.ExpectError(call, name, got, expected)
		} else if got = t.ExpectSuccess(call, name, got); got != nil {
			t.ExpectSameBits(call, name, got, want)
		}
		return nil
	}
	scalars := map[int]any{}
	for i, v := range numbers {
		scalars[i] = calls.NumPyNumber{Value: v}
		if _, isBool := v.(bool); isBool && calls.IsBare(t.Caller) {
			scalars[i] = v // tvm-ffi does not know NumPy's
		}
		if err := give("a number for "+t.Op.Inputs[i].Name, "eager", map[int]any{i: v}); err != nil {
			return err
		}
	}
	if err := give("numbers of NumPy", "eager", scalars); err != nil {
		return err
	}
	for _, mode := range calls.Modes(t.Caller) {
		if err := give("numbers, "+mode, mode, numbers); err != nil {
			return err
		}
	}
	return nil
}

// changedCall is the plain call of a case with other values for some inputs.
func changedCall(t *check.T, c *cases.Case, changed map[int]any) (*calls.Call, error) {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return nil, err
	}
	for i, v := range changed {
		call.Inputs[i] = v
	}
	return call, nil
}

// numbersOf are the values of the inputs of a case that may be numbers, by their places.
func numbersOf(c *cases.Case) map[int]any {
	numbers := map[int]any{}
	for i := range c.Op.Inputs {
		in, x := &c.Op.Inputs[i], c.Inputs[i]
		if x == nil || !c.Op.TakesNumber(in) {
			continue
		}
		switch c.Op.NumberType(in) {
		case "bool":
			numbers[i] = ndarray.GetFloat(x.DType, x.Data, x.Offset) != 0
		case "int":
			if n := ndarray.GetInt(x.DType, x.Data, x.Offset); n.IsInt64() {
				numbers[i] = n.Int64()
			}
		default:
			numbers[i] = ndarray.GetFloat(x.DType, x.Data, x.Offset)
		}
	}
	return numbers
}
