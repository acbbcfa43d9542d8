package view

import (
	"regexp"
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
	head, items, after := splitCall(text)
	if len(w.step+by+text+tail) <= w.width || items == nil {
		return []string{by + text + tail}
	}
	out := []string{by + head}
	for _, item := range items {
		out = append(out, w.wrapped(by+w.step, item, after)...)
	}
	return append(out, by+")"+tail)
}

// called matches what is called if a bracket follows.
var called = regexp.MustCompile(`[\w\])]$`)

// splitCall separates "f(a, (b, c))" into "f(" and its items, after each of which a comma stands, and "(a if b else c)" into
// parts without one; nil is for what is neither.
func splitCall(text string) (head string, items []string, after string) {
	open := strings.IndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") {
		return text, nil, ""
	}
	inside := text[open+1 : len(text)-1]
	items, balanced := splitOutside(inside, ",")
	if !balanced {
		return text, nil, ""
	}
	if calls := called.MatchString(text[:open]); calls || len(items) > 1 || strings.HasSuffix(inside, ",") {
		return text[:open+1], items, ","
	}
	items, _ = splitOutside(inside, " if ", " else ")
	return text[:open+1], items, ""
}

// splitOutside splits a text at separators outside of brackets, of which it drops the first character. It reports whether the
// brackets balance. The strings in generated lines are names and expressions, whose brackets balance, so they need no lexer.
func splitOutside(text string, separators ...string) (parts []string, balanced bool) {
	depth, start := 0, 0
	for i := 0; i < len(text) && depth >= 0; i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		for _, s := range separators {
			if depth == 0 && strings.HasPrefix(text[i:], s) {
				parts = append(parts, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(text[start:]); last != "" {
		parts = append(parts, last)
	}
	return parts, depth == 0
}
