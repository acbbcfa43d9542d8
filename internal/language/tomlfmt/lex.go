package tomlfmt

import "strings"

// kind is what a token is.
type kind int

const (
	newline kind = iota
	comment
	text  // a string, a bare key with its dots, a number, a date
	punct // one of [ ] { } = ,
)

// token is a piece of a file, with the number of spaces before it, and its place.
type token struct {
	kind    kind
	text    string
	gap, at int
}

// lex splits a file that is known to be TOML. The parser has refused everything that would not end here.
func lex(src string) []token {
	var out []token
	gap := 0
	for i := 0; i < len(src); {
		c, end, k := src[i], i+1, text
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			gap, i = gap+1, i+1
			continue
		case c == '\n':
			k = newline
		case c == '#':
			k, end = comment, lineEnd(src, i)
		case strings.IndexByte("[]{}=,", c) >= 0:
			k = punct
		case c == '"' || c == '\'':
			end = stringEnd(src, i)
		default:
			for end < len(src) && strings.IndexByte("[]{}=,#\"' \t\r\n", src[end]) < 0 {
				end++
			}
		}
		piece := src[i:end]
		if k == comment {
			piece = strings.TrimRight(piece, " \t\r")
		}
		out = append(out, token{k, piece, gap, i})
		gap, i = 0, end
	}
	return out
}

func lineEnd(src string, i int) int {
	if n := strings.IndexByte(src[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(src)
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(src string, i int) int {
	quote := src[i : i+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(src[i:], long) {
		quote = long
	}
	for j := i + len(quote); j < len(src); j++ {
		if src[j] == '\\' && quote[0] == '"' {
			j++
		} else if strings.HasPrefix(src[j:], quote) {
			j += len(quote)
			for range 2 { // a long string may end with quotes of its own
				if len(quote) == 3 && j < len(src) && src[j] == quote[0] {
					j++
				}
			}
			return j
		}
	}
	return len(src)
}
