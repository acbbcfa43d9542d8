package view

import (
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/rule"
)

// Guarded prints the rules, and collects those in a row that depend on the same optional input and the same condition on
// attributes: block gets the name of that input, or "", and that condition, or nil.
func Guarded[T any](rules []rule.Rule, print func(rule.Rule) []T, block func(arg string, when *expr.Expr, lines []T)) {
	var arg string
	var when *expr.Expr
	var lines []T
	flush := func() {
		if len(lines) > 0 {
			block(arg, when, lines)
		}
		lines = nil
	}
	for _, r := range rules {
		if r.If != arg || r.When != when {
			flush()
			arg, when = r.If, r.When
		}
		lines = append(lines, print(r)...)
	}
	flush()
}

// Indent puts each line after some space.
func Indent(by string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = by + l
	}
	return out
}
