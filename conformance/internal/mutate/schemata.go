package mutate

import (
	"fmt"
	"regexp"
	"strings"
)

// declaration splits a statement that declares a value: what follows the equals sign may be chosen at run time.
var declaration = regexp.MustCompile(`^((?:const )?(?:auto|int64_t|opcast::DType) \w+ = )([^=].*);$`)

// Schemata puts mutants of generated C++ into a text, each behind OPCAST_MUTANT(number), with numbers from first. Pieces
// outside of functions stay as they are. It returns the new text.
func Schemata(file, text string, operators []*Operator, ops []string, first int) (string, []*Mutant) {
	var out strings.Builder
	var all []*Mutant
	done := 0
	for _, s := range statements(text) {
		mutants := mutate(file, text, s, operators, ops)
		if len(mutants) == 0 {
			continue
		}
		for _, m := range mutants {
			m.Number = first + len(all)
			all = append(all, m)
		}
		out.WriteString(text[done:s.start])
		out.WriteString(choose(text[s.start:s.end], mutants))
		done = s.end
	}
	out.WriteString(text[done:])
	return withHeader(out.String()), all
}

// withHeader includes the header of the switch after the file's own.
func withHeader(text string) string {
	at := strings.Index(text, "#include")
	if at < 0 {
		return text
	}
	end := at + strings.Index(text[at:], "\n") + 1
	return text[:end] + "#include \"" + HeaderName + "\"\n" + text[end:]
}

// mutate applies the operators to one statement.
func mutate(file, text string, s span, operators []*Operator, ops []string) []*Mutant {
	var out []*Mutant
	statement := text[s.start:s.end]
	for _, o := range operators {
		for _, p := range o.places(statement, text) {
			after := statement[:p.start] + p.after + statement[p.end:]
			out = append(out, &Mutant{
				Op: o.opOf(file, text, s.start, ops), File: file, Line: line(text, s.start),
				Before: statement, Text: statement, After: after, Operator: o, start: s.start, end: s.end,
			})
		}
	}
	return out
}

// choose is a statement that does what the mutant which is switched on does, or else what it did.
func choose(statement string, mutants []*Mutant) string {
	var b strings.Builder
	if parts := declaration.FindStringSubmatch(statement); parts != nil {
		b.WriteString(parts[1])
		for _, m := range mutants {
			value := strings.TrimSuffix(strings.TrimPrefix(m.After, parts[1]), ";")
			fmt.Fprintf(&b, "OPCAST_MUTANT(%d) ? (%s) : ", m.Number, value)
		}
		fmt.Fprintf(&b, "(%s);", parts[2])
		return b.String()
	}
	for _, m := range mutants {
		fmt.Fprintf(&b, "if (OPCAST_MUTANT(%d)) { %s } else ", m.Number, m.After)
	}
	fmt.Fprintf(&b, "{ %s }", statement)
	return b.String()
}

// span is a piece of a text.
type span struct{ start, end int }

// statements are the statements of the functions in a generated file: what stands between semicolons and the braces of
// blocks. Braces of initializers belong to their statement.
func statements(text string) []span {
	var out []span
	body, depth, nested := 0, 0, 0
	start := -1
	for i := 0; i < len(text); i++ {
		if n := between(text[i:], start < 0); n > 0 {
			i += n - 1
			continue
		}
		if start < 0 {
			start = i
		}
		switch text[i] {
		case '"':
			i = quoted(text, i)
		case '(', '[':
			nested++
		case ')', ']':
			nested--
		case '{':
			if nested == 0 && depth == 0 && opensBlock(text[start:i]) {
				body, start = body+1, -1
			} else {
				depth++
			}
		case '}':
			if depth > 0 {
				depth--
			} else {
				body, start = body-1, -1
			}
		case ';':
			if nested == 0 && depth == 0 {
				if inFunction(text, start, body) {
					out = append(out, span{start, i + 1})
				}
				start = -1
			}
		}
	}
	return out
}

// between is the length of what is no part of a statement: comments and, outside of statements, blanks and directives.
func between(text string, outside bool) int {
	switch {
	case outside && (text[0] == ' ' || text[0] == '\n'):
		return 1
	case outside && text[0] == '#', strings.HasPrefix(text, "//"):
		return max(strings.IndexByte(text, '\n'), 0) + 1
	}
	return 0
}

// quoted is the place of the quote that ends the text which begins at i.
func quoted(text string, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// opensBlock reports whether a brace after this beginning of a statement opens a block.
func opensBlock(head string) bool {
	head = strings.TrimSpace(head)
	return strings.HasSuffix(head, ")") && !strings.Contains(head, " = ") || head == "else" ||
		strings.HasPrefix(head, "namespace") || strings.HasPrefix(head, "extern \"C\"") || head == ""
}

// inFunction reports whether a statement stands in a function: deeper than the two namespaces of generated files.
func inFunction(text string, start, body int) bool {
	return body > 2 && !strings.HasPrefix(text[start:], "return ")
}
