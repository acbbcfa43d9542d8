package view

import "github.com/opcast/opcast/internal/rule"

// Guarded prints the rules, and collects those in a row that depend on the same optional input: block gets the name of
// that input, or "" for rules that always apply.
func Guarded[T any](rules []rule.Rule, print func(rule.Rule) []T, block func(arg string, lines []T)) {
	var open string
	var lines []T
	flush := func() {
		if len(lines) > 0 {
			block(open, lines)
		}
		open, lines = "", nil
	}
	for _, r := range rules {
		if r.If != open {
			flush()
			open = r.If
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
