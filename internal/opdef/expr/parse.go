package expr

import (
	"fmt"
	"math"
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
	e = p.level(0)
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
	case "&", "&&":
		return `use "and"`
	case "|", "||":
		return `use "or"`
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

// numberLength returns the length of a number such as 12, 0.5 or 1e-6 at the start of s.
func numberLength(s string) int {
	n := span(s, func(c byte) bool { return isDigit(c) || c == '.' })
	if n >= len(s) || s[n] != 'e' {
		return n
	}
	sign := n + 1
	if sign < len(s) && (s[sign] == '-' || s[sign] == '+') {
		sign++
	}
	if digits := span(s[sign:], isDigit); digits > 0 {
		return sign + digits
	}
	return n
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

// level parses operators of the given precedence and above.
func (p *parser) level(n int) *Expr {
	if p.depth++; p.depth > maxExprDepth {
		p.fail(p.col, "name parts of it with let", "expression nested too deeply")
	}
	defer func() { p.depth-- }()
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

func (p *parser) atom() *Expr {
	col, tok := p.col, p.tok
	switch {
	case tok == "":
		p.fail(col, "", "expected a number, name or \"(\", got the end")
	case tok == "(":
		p.next()
		inner := p.level(0)
		p.expect(")")
		return inner
	case isDigit(tok[0]) || tok[0] == '.':
		return p.literal()
	case !isLetter(tok[0]) || slices.Contains([]string{"and", "or", "not"}, tok):
		p.fail(col, hintFor(tok), "expected a number, name or \"(\", got %q", tok)
	}
	p.next()
	switch p.tok {
	case "(":
		return p.call(col, tok)
	case "[":
		p.next()
		index := p.level(0)
		p.expect("]")
		e := p.node(col, OpIndex, index)
		e.Name = tok
		return e
	}
	e := p.node(col, OpSymbol)
	e.Name = tok
	return e
}

func (p *parser) literal() *Expr {
	col, tok := p.col, p.tok
	p.next()
	if p.end == p.col && p.tok != "" && isLetter(p.tok[0]) {
		p.fail(col, `write the product with "*"`, "%q is neither a number nor a name", tok+p.tok)
	}
	if !strings.ContainsAny(tok, ".e") {
		value, err := strconv.ParseInt(tok, 10, 64)
		if err != nil {
			p.fail(col, "", "%s does not fit in 64 bits", tok)
		}
		e := p.node(col, OpConst)
		e.Value = value
		return e
	}
	value, err := strconv.ParseFloat(tok, 64)
	if err != nil || math.IsInf(value, 0) {
		p.fail(col, "", "%q is not a number", tok)
	}
	e := p.node(col, OpFloat)
	e.Float = value
	return e
}
