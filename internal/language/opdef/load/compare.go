package load

import (
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// comparison checks a comparison of dtypes, of a str attribute with a string, or of numbers.
func (c *checker) comparison(e *expr.Expr, u use) {
	a, b := e.Args[0], e.Args[1]
	switch {
	case c.isVar(a):
		c.dtypeTest(e, a, b, u)
	case c.isVar(b):
		c.dtypeTest(e, b, a, u)
	case c.isStr(a):
		c.wordTest(e, a, b, u)
	case c.isStr(b):
		c.wordTest(e, b, a, u)
	default:
		c.side(a, u)
		c.side(b, u)
		c.numberTest(e, a, b, u)
		c.numberTest(e, b, a, u)
	}
}

func (c *checker) isVar(e *expr.Expr) bool {
	return e.Op == expr.OpSymbol && c.names[e.Name].kind == kindVar
}

func (c *checker) isStr(e *expr.Expr) bool {
	known := c.names[e.Name]
	return e.Op == expr.OpSymbol && known.attr != nil && known.attr.Type == "str"
}

// dtypeTest checks "T == bf16" and "T == U". The name of a dtype becomes a word: it is no name of the definition.
func (c *checker) dtypeTest(e, variable, other *expr.Expr, u use) {
	name := variable.Name
	switch {
	case u.attrs:
		c.misuse(variable, u, "only attributes can decide about dims", "%s is a dtype variable", name)
	case e.Op != expr.OpEq && e.Op != expr.OpNe:
		c.misuse(e, u, `use "==" or "!="`, "%s: dtypes have no order", e.Text)
	case c.isVar(other):
	case other.Op != expr.OpSymbol || !slices.Contains(c.raw.DTypes[name], other.Name):
		c.misuse(e, u, name+" is "+diag.OneOf(c.raw.DTypes[name]), "%s is never %q", name, other.Text)
	default:
		*other = expr.Expr{Op: expr.OpText, Word: other.Name, Text: other.Text, Col: other.Col}
	}
}

// wordTest checks "layout == 'NHD'".
func (c *checker) wordTest(e, name, other *expr.Expr, u use) {
	attr := c.names[name.Name].attr
	switch {
	case attr.Optional:
		c.namedSize(name, c.names[name.Name], u)
	case e.Op != expr.OpEq && e.Op != expr.OpNe:
		c.misuse(e, u, `use "==" or "!="`, "%s: strings have no order", e.Text)
	case other.Op != expr.OpText:
		c.misuse(other, u, "compare it with a string in quotes", "%s is a str attribute", name.Name)
	case len(attr.OneOf) > 0 && !slices.Contains(attr.OneOf, other.Word):
		c.misuse(other, u, diag.DidYouMean(other.Word, attr.OneOf, name.Name+" is "+diag.OneOf(attr.OneOf)), "%s is never %q", name.Name, other.Word)
	}
}

// numberTest checks "bits == 4" against the list of what the attribute may be.
func (c *checker) numberTest(e, name, other *expr.Expr, u use) {
	attr := c.names[name.Name].attr
	if name.Op != expr.OpSymbol || attr == nil || len(attr.Among) == 0 || other.Op != expr.OpConst || e.Op != expr.OpEq && e.Op != expr.OpNe {
		return
	}
	if !slices.Contains(attr.Among, other.Value) {
		c.misuse(other, u, name.Name+" is "+diag.OneOf(attr.Decimals()), "%s is never %d", name.Name, other.Value)
	}
}

// side checks one side of a comparison of numbers: a float attribute, a number with a decimal point, or an integer. What
// is of floating point stands alone: arithmetic is that of sizes.
func (c *checker) side(e *expr.Expr, u use) {
	known := c.names[e.Name]
	switch {
	case e.Op == expr.OpText:
		c.misuse(e, u, "compare it with a str attribute", "%s is a string, expected a number", e.Text)
	case e.Op == expr.OpFloat, e.Op == expr.OpNeg && e.Args[0].Op == expr.OpFloat:
	case e.Op == expr.OpSymbol && known.attr != nil && known.attr.Type == "float" && !known.attr.MayBeNone():
	default:
		u.condition = true
		c.integer(e, u)
	}
}
