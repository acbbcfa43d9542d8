// Package tomlfmt lays TOML files out in one style: the style of definitions and manifests.
//
// Only white space and commas behind the last element of an array change. Comments, the order of keys, the form of strings
// and numbers, and the author's choice of lines stay, and so do spaces that align columns and comments. Formatting twice is
// formatting once. Lines end as on Unix, also those inside of strings.
package tomlfmt

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// errMeaning says that this package has a bug: the file would have another meaning.
var errMeaning = errors.New("the formatted file would mean something else; please report this")

// Format returns the file in the style. A file that is no TOML is an error.
func Format(src []byte) ([]byte, error) {
	// In TOML, "\r" stands before "\n" only, and readers may take the two for one also inside of strings.
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n")
	before, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("read TOML: %w", err)
	}
	p := &printer{tokens: lex(text)}
	p.file()
	out := p.out.String()
	if after, err := decode(out); err != nil || !same(before, after) {
		return nil, errors.Join(errMeaning, err)
	}
	return []byte(out), nil
}

// decode reads TOML 1.0. The library reads newer files, too.
func decode(text string) (values map[string]any, err error) {
	if err = Read([]byte(text), &values); err == nil {
		if _, what := Newer(text); what != "" {
			err = errors.New(what)
		}
	}
	return values, err
}

// same says whether two values are equal, with numbers that are undefined equal to themselves.
func same(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, same)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, same)
	}
	return reflect.DeepEqual(a, b)
}

// printer prints tokens one after the other.
type printer struct {
	tokens []token
	next   int
	out    strings.Builder
}

// peek returns the token that comes next; behind the last one there is an empty line without end.
func (p *printer) peek() token {
	if p.next < len(p.tokens) {
		return p.tokens[p.next]
	}
	return token{kind: newline}
}

func (p *printer) take() token {
	t := p.peek()
	p.next++
	return t
}

func (p *printer) is(text string) bool { return p.peek().kind == punct && p.peek().text == text }

func (p *printer) done() bool { return p.next >= len(p.tokens) }

// blanks takes line breaks and returns how many there were.
func (p *printer) blanks() (n int) {
	for !p.done() && p.peek().kind == newline {
		p.next++
		n++
	}
	return n
}

// file prints lines: comments, headers of tables, keys with their values. Blank lines are single, and one stands before each
// table, above the comments that belong to it.
func (p *printer) file() {
	for p.blanks(); !p.done(); {
		above := p.comments()
		if p.is("[") && p.out.Len() > 0 && !strings.HasSuffix(p.out.String(), "\n\n") {
			p.out.WriteByte('\n')
		}
		p.out.WriteString(above)
		switch {
		case p.done():
			return
		case p.is("["):
			p.header()
		default:
			p.keyValue(0)
		}
		p.remark()
		p.out.WriteByte('\n')
		if p.blanks() > 1 && !p.done() {
			p.out.WriteByte('\n')
		}
	}
}

// comments prints comments up to the last blank line between them, and returns those that follow it.
func (p *printer) comments() (above string) {
	for !p.done() && p.peek().kind == comment {
		above += p.take().text + "\n"
		if p.blanks() > 1 && !p.done() {
			p.out.WriteString(above + "\n")
			above = ""
		}
	}
	return above
}

// header prints [name] or [[name]].
func (p *printer) header() {
	for !p.done() && p.peek().kind != newline && p.peek().kind != comment {
		p.out.WriteString(p.take().text)
	}
}

// remark prints a comment behind what stands in the line.
func (p *printer) remark() {
	if p.peek().kind == comment {
		t := p.take()
		p.out.WriteString(strings.Repeat(" ", max(1, t.gap)) + t.text)
	}
}

func (p *printer) keyValue(depth int) {
	for !p.is("=") && !p.done() {
		p.out.WriteString(p.take().text)
	}
	p.take()
	p.out.WriteString(" = ")
	p.value(depth)
}

func (p *printer) value(depth int) {
	switch {
	case p.is("["):
		p.array(depth)
	case p.is("{"):
		p.inlineTable(depth)
	default:
		p.out.WriteString(p.take().text)
		if t := p.peek(); t.kind == text { // the time behind a date
			p.out.WriteString(" " + p.take().text)
		}
	}
}

// inlineTable prints { a = 1, b = 2 }. Where it stands in a line of its own, more than one space aligns columns.
func (p *printer) inlineTable(depth int) {
	p.take()
	if p.is("}") {
		p.take()
		p.out.WriteString("{}")
		return
	}
	p.out.WriteString("{ ")
	for {
		p.keyValue(depth)
		if !p.is(",") {
			break
		}
		if p.take(); p.is("}") { // a comma behind the last pair, which newer TOML allows
			break
		}
		p.out.WriteString("," + strings.Repeat(" ", max(1, p.peek().gap)))
	}
	p.take()
	p.out.WriteString(" }")
}

// array prints an array in one line, or, if it has a line break, with lines of elements where the author has them.
func (p *printer) array(depth int) {
	broken := p.broken()
	p.take()
	p.out.WriteByte('[')
	fresh := broken // the next element begins a line
	if broken {
		p.remark()
		p.blanks()
	}
	for first := true; !p.is("]"); first = false {
		switch {
		case fresh:
			p.out.WriteString("\n" + strings.Repeat("  ", depth+1))
		case !first:
			p.out.WriteByte(' ')
		}
		fresh = p.element(depth+1, broken)
	}
	p.take()
	if broken {
		p.out.WriteString("\n" + strings.Repeat("  ", depth))
	}
	p.out.WriteByte(']')
}

// element prints an element with its comma, or a comment in a line of its own. It says whether the line ends behind it.
func (p *printer) element(depth int, broken bool) bool {
	if p.peek().kind == comment {
		p.out.WriteString(p.take().text)
		p.gapLine()
		return true
	}
	p.value(depth)
	p.commented()
	if p.is(",") {
		p.take()
	}
	if broken || !p.is("]") {
		p.out.WriteByte(',')
	}
	p.remark()
	if p.peek().kind != newline {
		return false
	}
	p.gapLine()
	return true
}

// commented moves comments that stand between an element and its comma behind the comma, as lines of their own.
func (p *printer) commented() {
	end := p.next
	for end < len(p.tokens) && (p.tokens[end].kind == comment || p.tokens[end].kind == newline) {
		end++
	}
	if end == p.next || end == len(p.tokens) || p.tokens[end].text != "," {
		return
	}
	moved := append([]token{p.tokens[end]}, p.tokens[p.next:end]...)
	copy(p.tokens[p.next:], moved)
}

// gapLine takes line breaks, and keeps one blank line between elements.
func (p *printer) gapLine() {
	if p.blanks() > 1 && !p.is("]") {
		p.out.WriteByte('\n')
	}
}

// broken says whether the array that comes next has a line break or a comment of its own.
func (p *printer) broken() bool {
	depth := 0
	for _, t := range p.tokens[p.next:] {
		switch {
		case t.kind == punct && strings.Contains("[{", t.text):
			depth++
		case t.kind == punct && strings.Contains("]}", t.text):
			if depth--; depth == 0 {
				return false
			}
		case depth == 1 && (t.kind == newline || t.kind == comment):
			return true
		}
	}
	return false
}
