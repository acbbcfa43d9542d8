package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on an expression, so that no input overflows the stack: calls of level at a time (parentheses cost nine),
// operators of one level in a row, and bytes.
const (
	maxExprDepth  = 500
	maxExprRow    = 64
	maxExprLength = 1000
)

// SyntaxError is a mistake in the text of an expression or type. Col is its byte offset in the text.
type SyntaxError struct {
	Col        int
	Text, Hint string
}

// Error returns the text of the mistake.
func (e *SyntaxError) Error() string { return e.Text }

// binary holds the binary operators by rising precedence, as in Python.
var binary = [][]string{
	{"or"},
	{"and"},
	nil, // not, a prefix
	{"==", "!=", "<=", ">=", "<", ">"},
	{"+", "-"},
	{"*", "//", "%"},
	nil, // unary minus, a prefix
	{"**"},
}

const (
	levelNot     = 2
	levelCompare = 3
	levelNeg     = 6
	levelPow     = 7
)

// Parse parses the text of an expression. Its error is always a *SyntaxError.
func Parse(text string) (e *Expr, err error) {
	if len(text) > maxExprLength {
		return nil, &SyntaxError{Text: fmt.Sprintf("expression longer than %d bytes", maxExprLength), Hint: "name parts of it with let"}
	}
	p := &parser{text: text}
	defer func() {
		switch syntax := recover().(type) {
		case nil:
		case *SyntaxError:
			e, err = nil, syntax
		default:
			panic(syntax)
		}
	}()
	p.next()
	e = p.choice()
	if p.tok != "" {
		p.fail(p.col, hintFor(p.tok), "expected an operator or the end, got %q", p.tok)
	}
	return e, nil
}

// parser is a precedence climber over one token of lookahead. It leaves by panicking with a *SyntaxError.
type parser struct {
	text string
	// tok is the current token ("" at the end), col its offset; end is where the token before it ended.
	tok           string
	col, pos, end int
	depth         int
}

func (p *parser) fail(col int, hint, format string, args ...any) {
	panic(&SyntaxError{Col: col, Text: fmt.Sprintf(format, args...), Hint: hint})
}

func hintFor(tok string) string {
	switch tok {
	case "/":
		return `use "//" (floor division) or ceildiv(a, b)`
	case "=":
		return `use "==" to compare`
	case "&&":
		return `use "and"`
	case "||":
		return `use "or"`
	case "&", "|", "^", "~":
		return `there are no operators on bits; "and" and "or" join conditions`
	case "!":
		return `use "not"`
	}
	return ""
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// next reads the next token: a name, a number, or an operator.
func (p *parser) next() {
	p.end = p.pos
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	p.col = p.pos
	rest := p.text[p.pos:]
	switch {
	case rest == "":
	case isLetter(rest[0]):
		p.pos += span(rest, func(c byte) bool { return isLetter(c) || isDigit(c) })
	case isDigit(rest[0]) || rest[0] == '.':
		p.pos += numberLength(rest)
	case rest[0] == '"' || rest[0] == '\'':
		p.pos += quotedLength(rest)
	case len(rest) > 1 && slices.Contains([]string{"**", "//", "==", "!=", "<=", ">=", "&&", "||"}, rest[:2]):
		p.pos += 2
	default:
		_, size := utf8.DecodeRuneInString(rest)
		p.pos += size
	}
	p.tok = p.text[p.col:p.pos]
}

func span(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

func (p *parser) expect(tok string) {
	if p.tok != tok {
		p.fail(p.col, hintFor(p.tok), "expected %q, got %s", tok, p.got())
	}
	p.next()
}

func (p *parser) got() string {
	if p.tok == "" {
		return "the end"
	}
	return strconv.Quote(p.tok)
}

// node finishes a node that began at col: its text is what the author wrote, with runs of white space as one space.
func (p *parser) node(col int, op Op, args ...*Expr) *Expr {
	text := strings.Join(strings.Fields(p.text[col:p.end]), " ")
	return &Expr{Op: op, Args: args, Col: col, Text: text}
}

// choice parses "a if c else b", which binds less than every operator.
func (p *parser) choice() *Expr {
	col := p.col
	value := p.level(0)
	if p.tok != "if" {
		return value
	}
	p.enter()
	defer p.leave()
	p.next()
	condition := p.level(0)
	p.expect("else")
	otherwise := p.choice()
	return p.node(col, OpIf, condition, value, otherwise)
}

// enter and leave count how deeply expressions are nested.
func (p *parser) enter() {
	if p.depth++; p.depth > maxExprDepth {
		p.fail(p.col, "name parts of it with let", "expression nested too deeply")
	}
}

func (p *parser) leave() { p.depth-- }

// level parses operators of the given precedence and above.
func (p *parser) level(n int) *Expr {
	p.enter()
	defer p.leave()
	col := p.col
	switch {
	case n > levelPow:
		return p.atom()
	case n == levelNot && p.tok == "not":
		p.next()
		arg := p.level(n)
		return p.node(col, OpNot, arg)
	case n == levelNeg && p.tok == "-":
		p.next()
		if p.tok == smallest {
			return p.smallest(col)
		}
		arg := p.level(n)
		return p.node(col, OpNeg, arg)
	}
	return p.operators(n, col, p.level(n+1))
}

// operators parses what follows the first operand of level n.
func (p *parser) operators(n, col int, left *Expr) *Expr {
	for count := 0; slices.Contains(binary[n], p.tok); count++ {
		if n == levelCompare && count > 0 {
			p.fail(p.col, `write "a < b and b < c"`, "comparisons do not chain")
		}
		if count >= maxExprRow {
			p.fail(p.col, "name parts of it with let", "expression has more than %d operators in a row", maxExprRow)
		}
		op, next := Op(p.tok), n+1
		p.next()
		if n == levelPow { // right to left, and its right side may be negative
			next = levelNeg
		}
		right := p.level(next)
		left = p.node(col, op, left, right)
	}
	return left
}
