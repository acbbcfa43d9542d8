package tomlfmt

import (
	"regexp"
	"strings"
)

// shortTime is a time without seconds, with or without a date.
var shortTime = regexp.MustCompile(`^(\d{4}-\d\d-\d\d[Tt])?\d\d:\d\d([Zz]|[+-]\d\d:\d\d)?$`)

// Newer finds what TOML 1.1 has and TOML 1.0 has not, in a file that is known to be one or the other: the library reads both, and
// Python's tomllib reads the older one. It returns the place of the first in the text and what it is; where there is nothing,
// it returns no words.
func Newer(src string) (at int, what string) {
	tokens := lex(src)
	var open []string
	for i, t := range tokens {
		inside := len(open) > 0 && open[len(open)-1] == "{"
		switch {
		case inside && t.kind == comment:
			return t.at, "comment inside an inline table"
		case inside && t.kind == newline && i+1 < len(tokens):
			if next := tokens[i+1]; next.kind != newline && next.kind != comment {
				return next.at, "line break inside an inline table"
			}
		case t.kind == punct && strings.Contains("[{", t.text):
			open = append(open, t.text)
		case t.kind == punct && strings.Contains("]}", t.text) && len(open) > 0:
			if inside && i > 0 && tokens[i-1].text == "," && tokens[i-1].kind == punct {
				return tokens[i-1].at, "comma behind the last key of an inline table"
			}
			open = open[:len(open)-1]
		case t.kind == text && shortTime.MatchString(t.text):
			return t.at, "time without seconds"
		case t.kind == text && t.text[0] == '"':
			if j := newEscape(t.text); j >= 0 {
				return t.at + j, `escape \` + t.text[j+1:j+2]
			}
		}
	}
	return 0, ""
}

// newEscape is the place of an escape in a string that TOML 1.0 has not, or -1.
func newEscape(text string) int {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if c := text[i+1]; c == 'e' || c == 'x' {
			return i
		}
		i++
	}
	return -1
}
