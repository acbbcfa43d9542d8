package migrate

import (
	"strings"
)

// pair finds for every bracket the one that closes it, once: a text may have as many as it has bytes.
func pair(tokens []token) {
	var open []int
	for i, t := range tokens {
		if t.kind != punctuation {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			if last := len(open) - 1; last >= 0 {
				tokens[open[last]].close = i - open[last]
				open = open[:last]
			}
		}
	}
}

// unpaired is the first bracket that nothing closes, or else the first that closes none, or -1.
func unpaired(tokens []token) int {
	extra := -1
	opened := 0
	for i, t := range tokens {
		if t.kind != punctuation {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			if t.close == 0 {
				return i
			}
			opened++
		case ")", "]", "}":
			if opened--; opened < 0 && extra < 0 {
				extra = i
			}
		}
	}
	return extra
}

// closing is the index of the token that closes the bracket at an index, or the number of tokens.
func closing(tokens []token, at int) int {
	if at < len(tokens) && tokens[at].close > 0 {
		return min(at+tokens[at].close, len(tokens))
	}
	return len(tokens)
}

// longestAngle is how many tokens the arguments of a template have at most; a < may also be a comparison, which nothing closes.
const longestAngle = 1000

// closingAngle is the index of the > that closes the < at an index, or -1.
func closingAngle(tokens []token, at int) int {
	depth := 0
	for i := at; i < min(len(tokens), at+longestAngle); i++ {
		if tokens[i].kind != punctuation {
			continue
		}
		switch tokens[i].text {
		case "<":
			depth++
		case ">":
			if depth--; depth == 0 {
				return i
			}
		case "(", "[", "{":
			i = closing(tokens, i)
		case ";", ")", "]", "}":
			return -1
		}
	}
	return -1
}

// split cuts tokens at a sign that stands in no brackets.
func split(tokens []token, sign string) [][]token {
	var parts [][]token
	start, angle := 0, 0
	for i := 0; i < len(tokens); i++ {
		if tokens[i].kind != punctuation {
			continue
		}
		switch s := tokens[i].text; {
		case s == "(" || s == "[" || s == "{":
			i = closing(tokens, i)
		case s == "<" && closingAngle(tokens, i) > 0:
			angle++
		case s == ">" && angle > 0:
			angle--
		case s == sign && angle == 0:
			parts = append(parts, tokens[start:i])
			start = i + 1
		}
	}
	if start < len(tokens) || start > 0 {
		parts = append(parts, tokens[start:])
	}
	return parts
}

// joined are tokens as a text, spaced as in the source but on one line.
func joined(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.spaced {
			b.WriteByte(' ')
		}
		if t.kind == text {
			b.WriteString(`"` + t.text + `"`)
		} else {
			b.WriteString(t.text)
		}
	}
	return b.String()
}
