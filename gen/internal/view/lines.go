package view

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// Guard is what some rules in a row have in common: the optional input that has to be given, the condition on attributes, and
// the list of arrays for each of which they are checked; "" or nil where there is none.
type Guard struct {
	If, List string
	When     *expr.Expr
	// phase tells rules on a list apart that are checked for all its arrays before the next ones are for any.
	phase rule.Kind
}

// Guarded prints the rules, and collects those in a row that have the same guard. isList says whether an argument is a list.
func Guarded[T any](rules []rule.Rule, isList func(string) bool, print func(rule.Rule) []T, block func(g Guard, lines []T)) {
	var guard Guard
	var lines []T
	flush := func() {
		if len(lines) > 0 {
			block(guard, lines)
		}
		lines = nil
	}
	for _, r := range rules {
		g := Guard{If: r.If, When: r.When}
		if isList(r.Arg) {
			g.List = r.Arg
			if slices.Contains([]rule.Kind{rule.Device, rule.OutSize, rule.Output, rule.Apart}, r.Kind) {
				g.phase = r.Kind
			}
		}
		if g != guard {
			flush()
			guard = g
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
