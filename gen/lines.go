package gen

import (
	"strings"

	"github.com/opcast/opcast/internal/rule"
)

// wrap breaks calls and tuples that are too long for a line of the function's body.
func wrap(lines []string) []string {
	var out []string
	for _, l := range lines {
		text := strings.TrimLeft(l, " ")
		out = append(out, wrapped(strings.TrimSuffix(l, text), text, "")...)
	}
	return out
}

func wrapped(by, text, tail string) []string {
	head, items := splitCall(text)
	if len(pyIndent+by+text+tail) <= lineLength || items == nil {
		return []string{by + text + tail}
	}
	out := []string{by + head}
	for _, item := range items {
		out = append(out, wrapped(by+pyIndent, item, ",")...)
	}
	return append(out, by+")"+tail)
}

// splitCall separates "f(a, (b, c))" into "f(" and its items. The strings in generated lines are names and expressions,
// whose brackets balance, so they need no lexer.
func splitCall(text string) (head string, items []string) {
	open := strings.IndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") {
		return text, nil
	}
	depth, start := 0, open+1
	for i := open + 1; i < len(text)-1; i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				items = append(items, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(text[start : len(text)-1]); last != "" {
		items = append(items, last)
	}
	return text[:open+1], items
}

// guarded prints the rules, collecting runs that depend on one optional input: block gets that input's name, or "" for
// rules that always apply.
func guarded[T any](rules []rule.Rule, print func(rule.Rule) []T, block func(arg string, lines []T)) {
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

func indent(by string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = by + l
	}
	return out
}
