package view

import (
	"strings"
)

// Wrap breaks calls and tuples of Python that are too long for a line of so many characters, in a body that is indented by a
// step.
func Wrap(lines []string, step string, width int) []string {
	var out []string
	for _, l := range lines {
		text := strings.TrimLeft(l, " ")
		out = append(out, (&wrapper{step, width}).wrapped(strings.TrimSuffix(l, text), text, "")...)
	}
	return out
}

type wrapper struct {
	step  string
	width int
}

func (w *wrapper) wrapped(by, text, tail string) []string {
	head, items := splitCall(text)
	if len(w.step+by+text+tail) <= w.width || items == nil {
		return []string{by + text + tail}
	}
	out := []string{by + head}
	for _, item := range items {
		out = append(out, w.wrapped(by+w.step, item, ",")...)
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
