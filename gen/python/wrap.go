package python

import (
	"strings"
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
	if len(step+by+text+tail) <= lineLength || items == nil {
		return []string{by + text + tail}
	}
	out := []string{by + head}
	for _, item := range items {
		out = append(out, wrapped(by+step, item, ",")...)
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
