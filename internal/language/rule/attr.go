package rule

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
)

func (e *evaluation) attrRule(r Rule) error {
	v, given := e.call.Attrs[r.Arg]
	if !given || e.call.Bare && r.Attr.Binds != "" {
		return nil // defaults were validated when the definition was loaded
	}
	if r.Kind == AttrType {
		return attrType(r, v)
	}
	if _, isInt := v.(int64); isInt && r.Attr.Type == "float" {
		v = float(v) // as which the op gets it, and messages show it
	}
	switch r.Kind {
	case AttrOneOf:
		if n, isInt := v.(int64); isInt && !slices.Contains(r.Attr.Among, n) {
			return expected("ValueError", r.Arg, "one of %s, got %d", strings.Join(r.Allowed, ", "), n)
		} else if isInt {
			return nil
		}
		if s, _ := v.(string); !slices.Contains(r.Allowed, s) {
			return expected("ValueError", r.Arg, "one of %s, got '%s'", Quoted(r.Allowed), s)
		}
	case AttrMin:
		return compare(r, v, "at least", func(x float64) bool { return x >= float(r.Attr.Min) })
	case AttrMax:
		return compare(r, v, "at most", func(x float64) bool { return x <= float(r.Attr.Max) })
	}
	return nil
}

func compare(r Rule, v any, words string, holds func(float64) bool) error {
	items, isList := v.([]int64)
	if !isList {
		if !holds(float(v)) {
			return expected("ValueError", r.Arg, "%s %s, got %s", words, r.Bound, Number(v))
		}
		return nil
	}
	for _, i := range items {
		if !holds(float64(i)) {
			return expected("ValueError", r.Arg, "%s %s, got %d", words, r.Bound, i)
		}
	}
	return nil
}

func float(v any) float64 {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// PythonType names the Python type of an attr value.
func PythonType(v any) string {
	switch t := v.(type) {
	case int64:
		return "int"
	case float64:
		return "float"
	case bool:
		return "bool"
	case string:
		return "str"
	case []int64:
		return "list"
	case NotAttr:
		return string(t)
	}
	return "NoneType"
}

func attrType(r Rule, v any) error {
	got := PythonType(v)
	want := r.Attr.Type
	switch {
	case want == "dtype":
		name, _ := v.(string)
		if slices.Contains(r.Allowed, name) {
			return nil
		}
		if known(name) {
			got = name
		}
		return expected("TypeError", r.Arg, "dtype %s, got %s", Or(r.Allowed), got)
	case r.Attr.Len != 0:
		return intList(r, v, got)
	case got == want, want == "float" && got == "int":
		return nil
	}
	return expected("TypeError", r.Arg, "%s, got %s", want, got)
}

func known(long string) bool {
	_, ok := dtype.LookupLong(long)
	return ok
}

// Integers says how many integers a list attribute takes, as messages do; any number if n is negative.
func Integers(n int) string {
	switch {
	case n < 0:
		return "integers"
	case n == 1:
		return "1 integer"
	}
	return Number(n) + " integers"
}

func intList(r Rule, v any, got string) error {
	what := Integers(r.Attr.Len)
	items, isList := v.([]int64)
	switch {
	case r.Attr.Len < 0 && isList:
		return nil
	case r.Attr.Len < 0:
	case isList && len(items) != r.Attr.Len:
		return expected("ValueError", r.Arg, "%s, got %d", what, len(items))
	case isList, got == "int":
		return nil
	}
	return expected("TypeError", r.Arg, "%s, got %s", what, got)
}
