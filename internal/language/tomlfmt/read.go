package tomlfmt

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// What a file may have at most. The time and memory of readers grow with products of these: each value has a path of keys.
const (
	MaxSize   = 256 << 10
	maxDepth  = 8
	maxKey    = 100
	maxPieces = 10000 // keys, values and opening brackets
)

// LimitError means that a file is larger or nested deeper than any that somebody means. At is the place in it.
type LimitError struct {
	At   int
	What string
}

func (e *LimitError) Error() string { return e.What }

// Read fills values from a file. Nothing else calls the parser, which takes minutes and gigabytes for what is refused here.
func Read(data []byte, into any) error {
	if err := limits(string(data)); err != nil {
		return err
	}
	return toml.Unmarshal(data, into) //nolint:wrapcheck // callers look for its kinds of errors
}

// ReadStrictly is Read where unknown keys are mistakes.
func ReadStrictly(data []byte, into any) error {
	if err := limits(string(data)); err != nil {
		return err
	}
	return toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(into) //nolint:wrapcheck // as above
}

// limits says what is too large in a file. Up to its first mistake, lex sees in it what the parser does.
func limits(src string) error {
	if len(src) > MaxSize {
		return &LimitError{0, fmt.Sprintf("the file is larger than %d KiB", MaxSize>>10)}
	}
	tokens := lex(src)
	var open, parts, length, pieces int
	header, first := false, true // of a line; white space inside of brackets begins none
	for i, t := range tokens {
		what := ""
		switch {
		case t.kind == text:
			if length == 0 {
				pieces++
			}
			length += len(t.text)
			parts += dots(t.text)
			named := header || i+1 < len(tokens) && tokens[i+1].text == "=" && tokens[i+1].kind == punct
			if parts >= maxDepth || named && length > maxKey {
				what = fmt.Sprintf("expected a key of at most %d parts and %d bytes", maxDepth, maxKey)
			}
		case t.kind == punct && strings.Contains("[{", t.text):
			header = header || first
			open, pieces = open+1, pieces+1
		case t.kind == punct && strings.Contains("]}", t.text):
			open = max(0, open-1)
		}
		if t.kind != text {
			parts, length = 0, 0
		}
		if what = tooMany(what, open, pieces); what != "" {
			return &LimitError{t.at, what}
		}
		first = t.kind == newline && open == 0 || first && t.kind == comment
		header = header && !first
	}
	return nil
}

func tooMany(what string, open, pieces int) string {
	switch {
	case what != "":
		return what
	case open > maxDepth:
		return fmt.Sprintf("expected at most %d brackets in each other", maxDepth)
	case pieces > maxPieces:
		return fmt.Sprintf("expected at most %d keys and values", maxPieces)
	}
	return ""
}

// dots are those that join the parts of a key.
func dots(text string) int {
	if text[0] == '"' || text[0] == '\'' {
		return 0
	}
	return strings.Count(text, ".")
}

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
