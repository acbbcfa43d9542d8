package raw

import (
	"fmt"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Convert turns a TOML value into a value of the attribute. Integers widen to float, and one integer to int[N].
func Convert(a *opdef.Attr, value any) (any, bool) {
	switch v := value.(type) {
	case int64:
		switch {
		case a.Type == "int":
			return v, true
		case a.Type == "float":
			return float64(v), true
		case a.Len > 0:
			return slices.Repeat([]int64{v}, a.Len), true
		}
	case float64:
		return v, a.Type == "float" && Finite(v)
	case bool:
		return v, a.Type == "bool"
	case string:
		return v, a.Type == "str" || a.Type == "dtype"
	case []any:
		return convertList(a, v)
	}
	return nil, false
}

func convertList(a *opdef.Attr, values []any) (any, bool) {
	list := make([]int64, len(values))
	for i, v := range values {
		n, ok := v.(int64)
		if !ok {
			return nil, false
		}
		list[i] = n
	}
	return list, a.Len == -1 || a.Len > 0 && a.Len == len(list)
}

// Outside says how a converted value breaks the attribute's range or list, or "".
func Outside(a *opdef.Attr, value any) string {
	numbers := []any{value}
	switch v := value.(type) {
	case string:
		if a.Type == "str" && len(a.OneOf) > 0 && !slices.Contains(a.OneOf, v) {
			return fmt.Sprintf("%q is none of %s", v, diag.OneOf(a.OneOf))
		}
		return ""
	case bool:
		return ""
	case []int64:
		numbers = numbers[:0]
		for _, n := range v {
			numbers = append(numbers, n)
		}
	}
	for _, n := range numbers {
		if i, isInt := n.(int64); isInt && len(a.Among) > 0 && !slices.Contains(a.Among, i) {
			return fmt.Sprintf("%d is none of %s", i, diag.OneOf(a.Decimals()))
		}
		if a.Min != nil && opdef.NumberValue(n) < opdef.NumberValue(a.Min) {
			return fmt.Sprintf("%v is less than min %v", n, a.Min)
		}
		if a.Max != nil && opdef.NumberValue(n) > opdef.NumberValue(a.Max) {
			return fmt.Sprintf("%v is greater than max %v", n, a.Max)
		}
	}
	return ""
}

// Finite says whether a value is a number: neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
