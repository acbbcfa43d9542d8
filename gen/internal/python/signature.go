package python

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// Signature is how an op is called and what it returns: "gelu(x, *, approximate) -> y".
func Signature(op *opdef.Op) string {
	return Call(op) + " -> " + strings.Join(opdef.ArgNames(op.Results()), ", ")
}

// Call is how users type a call of an op: "gelu(x, *, approximate)".
func Call(op *opdef.Op) string {
	var parts []string
	named := false
	for _, p := range op.Parameters() {
		if !p.Positional && !named {
			named = true
			parts = append(parts, "*")
		}
		s := p.Name()
		switch {
		case p.Needed:
		case p.Input != nil:
			s += "=None"
		default:
			s += "=" + defaultValue(p.Attr)
		}
		parts = append(parts, s)
	}
	return op.Name + "(" + strings.Join(parts, ", ") + ")"
}

// floatText writes a float as Python's repr does, so that 1.0 does not become an int.
func floatText(v any) string {
	s := rule.Number(v)
	if f, ok := v.(float64); ok {
		s = strings.ReplaceAll(fmt.Sprint(f), "+", "")
	}
	if !strings.ContainsAny(s, ".en") {
		s += ".0"
	}
	return s
}

// defaultValue is the default value in Python. A default that depends on sizes or dtypes is absent.
func defaultValue(a *opdef.Attr) string {
	if !a.HasDefault || a.MayBeNone() || a.Type == "dtype" {
		return "None"
	}
	switch value := a.Default.(type) {
	case bool:
		return layout.BoolText(value)
	case string:
		return layout.Quote(value)
	case float64:
		return floatText(value)
	case []int64:
		var items []string
		for _, i := range value {
			items = append(items, strconv.FormatInt(i, 10))
		}
		return layout.Tuple(items)
	}
	return fmt.Sprint(a.Default)
}

// DefaultText is the default as its author wrote it, where the call's is None.
func DefaultText(a *opdef.Attr) string {
	switch {
	case a.DefaultExpr != nil:
		return a.DefaultExpr.Text
	case a.Type == "dtype":
		return fmt.Sprint(a.Default)
	}
	return defaultValue(a)
}
