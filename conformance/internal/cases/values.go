package cases

import (
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
)

// RequiredAttrs gives attrs without a default their first allowed value, and dtype attrs the dtype of their variable.
func (c *Case) RequiredAttrs() {
	if c.Attrs == nil {
		c.Attrs = map[string]any{}
	}
	for i := range c.Op.Attrs {
		a := &c.Op.Attrs[i]
		if _, given := c.Attrs[a.Name]; given {
			continue
		}
		if short := c.DTypes[a.Binds]; short != "" && short != c.DefaultDType(a) {
			c.Attrs[a.Name] = DType(dtype.LongName(short))
		} else if !a.HasDefault {
			c.Attrs[a.Name] = AttrValues(c.Op, a)[0]
		}
	}
}

// DefaultDType is the short dtype that a dtype attr stands for when it is left out.
func (c *Case) DefaultDType(a *opdef.Attr) string {
	name, _ := a.Default.(string)
	if bound, ok := c.DTypes[name]; ok {
		return bound
	}
	return name
}

// AttrValues are the values that an attr takes in a sweep; the first is a safe one.
func AttrValues(op *opdef.Op, a *opdef.Attr) []any {
	if preferred := op.Samples[a.Name]; preferred != nil && a.Type != "dtype" {
		return preferred
	}
	return RangeValues(op, a)
}

// RangeValues are values from all over the declared range.
func RangeValues(op *opdef.Op, a *opdef.Attr) []any {
	switch {
	case len(a.OneOf) > 0:
		return anys(a.OneOf)
	case len(a.Among) > 0:
		return anys(a.Among)
	case a.Type == "bool":
		return []any{false, true}
	case a.Type == "dtype":
		return dtypeValues(op, a)
	case a.Type == "int":
		return intValues(a)
	case a.Type == "float":
		return floatValues(a)
	case a.Len > 0:
		return tupleValues(a)
	case a.Len < 0:
		return listValues(a)
	}
	return []any{""}
}

// listValues are lists of different lengths, one without elements among them.
func listValues(a *opdef.Attr) []any {
	var all []int64
	for _, v := range intValues(a) {
		all = append(all, v.(int64))
	}
	return []any{[]int64{all[0], all[len(all)-1]}, all[:1], []int64{}, append(slices.Clone(all), all[0])}
}

func anys[T any](items []T) []any {
	out := make([]any, len(items))
	for i, v := range items {
		out[i] = v
	}
	return out
}

// dtypeValues are the dtypes of the variable that the attr binds; float32 stands for an attr that binds none.
func dtypeValues(op *opdef.Op, a *opdef.Attr) []any {
	if a.Binds == "" {
		return []any{DType("float32")}
	}
	var out []any
	for _, v := range op.DTypes {
		if v.Name == a.Binds {
			for _, short := range v.OneOf {
				out = append(out, DType(dtype.LongName(short)))
			}
		}
	}
	return out
}

func intValues(a *opdef.Attr) []any {
	low, hasLow := a.Min.(int64)
	high, hasHigh := a.Max.(int64)
	switch {
	case hasLow && low == 0 && (!hasHigh || high > 0): // zero may make arrays empty, which most checks cannot use
		if !hasHigh {
			high = further
		}
		return []any{int64(1), low, high}
	case hasLow && hasHigh:
		return slices.Compact([]any{low, min(low+1, high), high})
	case hasLow:
		return []any{low, low + 1, low + further}
	case hasHigh:
		return []any{high, high - 1, high - further}
	}
	return []any{int64(1), int64(0), int64(2), int64(further)}
}

// further is how far from a bound a value is tried where there is no other bound: kernels often have a case of their own for
// the first few.
const further = 5

func floatValues(a *opdef.Attr) []any {
	low, hasLow := ToFloat(a.Min)
	high, hasHigh := ToFloat(a.Max)
	switch {
	case hasLow && hasHigh:
		return []any{low, low + inside*(high-low), high}
	case hasLow:
		return []any{low, low + inside}
	case hasHigh:
		return []any{high, high - inside}
	}
	return []any{1.0, 0.0, -inside}
}

// inside is how far from a bound a factor is tried: no power of two, with which products lose no digits.
const inside = 0.7

// ToFloat is the value of a number of any type; false where there is none.
func ToFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return math.NaN(), false
}
