package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// quotedLength returns the length of a string in quotes at the start of s, which has no escapes; that of the quote alone if
// none closes it.
func quotedLength(s string) int {
	if end := strings.IndexByte(s[1:], s[0]); end >= 0 {
		return end + 2
	}
	return 1
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

func (p *parser) atom() *Expr {
	col, tok := p.col, p.tok
	switch {
	case tok == "":
		p.fail(col, "", "expected a number, name or \"(\", got the end")
	case tok == "(":
		p.next()
		inner := p.choice()
		p.expect(")")
		return inner
	case isDigit(tok[0]) || tok[0] == '.':
		return p.literal()
	case tok[0] == '"' || tok[0] == '\'':
		return p.quoted()
	case !isLetter(tok[0]) || slices.Contains([]string{"and", "or", "not", "if", "else"}, tok):
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

func (p *parser) quoted() *Expr {
	col, tok := p.col, p.tok
	if len(tok) < 2 {
		p.fail(col, "", "the string that begins here does not end")
	}
	p.next()
	e := p.node(col, OpText)
	e.Word = tok[1 : len(tok)-1]
	return e
}

// smallest is the smallest integer without its sign, which is one too large.
const smallest = "9223372036854775808"

// smallest parses the smallest integer behind its sign, as the difference of numbers that have literals everywhere.
func (p *parser) smallest(col int) *Expr {
	p.next()
	if p.tok == "**" {
		p.fail(col, "", "-%s ** n does not fit in 64 bits", smallest)
	}
	one, largest := p.node(col, OpConst), p.node(col, OpConst)
	one.Value, largest.Value = 1, math.MaxInt64
	return p.node(col, OpSub, p.node(col, OpNeg, largest), one)
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
			p.fail(col, "write a larger bound of an input's values as a power, such as 2 ** 64 - 1", "%s does not fit in 64 bits", tok)
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
