package load

import (
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// maxExpanded is the size up to which an expression may grow when let names are replaced by their meaning.
const maxExpanded = 1000

// letNames declares and parses the lets, and orders them so that each uses earlier ones only.
func (c *checker) letNames() {
	for _, name := range keys(c.raw.Let) {
		path := tomldoc.Join("let", name)
		c.declare(name, entity{kind: kindLet, path: path}, c.doc.KeyAt(path))
		if c.doc.Tainted(path) {
			c.open = true
			continue
		}
		e, err := expr.Parse(c.raw.Let[name])
		if err != nil {
			c.syntax(path, code.Expr, err)
			c.open = true
			continue
		}
		c.lets[name] = e
	}
	begun, done := map[string]bool{}, map[string]bool{}
	for _, name := range keys(c.lets) {
		c.orderLet(name, begun, done)
	}
}

// orderLet appends a let after those that it uses.
func (c *checker) orderLet(name string, begun, done map[string]bool) {
	e := c.lets[name]
	switch {
	case e == nil || done[name]:
		return
	case begun[name]:
		c.forgetLet(name, "let %s needs itself", name)
		return
	}
	begun[name] = true
	for _, used := range e.Symbols() {
		c.orderLet(used, begun, done)
	}
	if c.lets[name] == nil {
		return
	}
	if expr.Nodes(c.expand(e)) > maxExpanded {
		c.forgetLet(name, "let %s grows beyond %d operations", name, maxExpanded)
		return
	}
	done[name] = true
	c.op.Lets = append(c.op.Lets, opdef.Let{Name: name, Expr: e})
}

// forgetLet reports a let that has no meaning.
func (c *checker) forgetLet(name, format string, args ...any) {
	c.report(tomldoc.Join("let", name), code.Let, "", format, args...)
	delete(c.lets, name)
	c.open = true
}

// expand replaces let names by their expressions, so that only sizes and attributes are left.
func (c *checker) expand(e *expr.Expr) *expr.Expr {
	if let := c.lets[e.Name]; let != nil && e.Op == expr.OpSymbol {
		return c.expand(let)
	}
	if len(e.Args) == 0 {
		return e
	}
	copied := *e
	copied.Args = make([]*expr.Expr, len(e.Args))
	for i, arg := range e.Args {
		copied.Args[i] = c.expand(arg)
	}
	return &copied
}
