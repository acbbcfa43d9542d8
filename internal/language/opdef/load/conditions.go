package load

import (
	"math/bits"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// conditions parses and checks require.
func (c *checker) conditions() {
	for i, text := range c.raw.Require {
		path := tomldoc.Element("require", i)
		if c.doc.Tainted(path) {
			continue
		}
		e, err := expr.Parse(text)
		if err != nil {
			c.syntax(path, code.Expr, err)
			continue
		}
		c.condition(e, use{path: path})
		c.op.Requires = append(c.op.Requires, e)
	}
}

// condition checks an expression that is true or false.
func (c *checker) condition(e *expr.Expr, u use) {
	switch e.Op {
	case expr.OpAnd, expr.OpOr, expr.OpNot:
		for _, arg := range e.Args {
			c.condition(arg, u)
		}
		return
	case expr.OpEq, expr.OpNe, expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe:
		c.comparison(e, u)
		return
	case expr.OpAligned:
		if u.when {
			c.aligned(e, u)
			return
		}
		c.misuse(e, u, "it chooses kernels, in when", "aligned cannot be a requirement")
		return
	case expr.OpSymbol:
		if known := c.names[e.Name]; known.attr != nil && known.attr.Type == "bool" {
			if known.attr.Optional {
				c.namedSize(e, known, u)
			}
			return
		}
		if c.isStr(e) {
			c.misuse(e, u, "compare it, as in "+e.Text+` == "word"`, "%s is a str attribute, expected a condition", e.Text)
			return
		}
	}
	c.misuse(e, u, "compare it, as in "+e.Text+" > 0", "%s is a number, expected a condition", e.Text)
}

func (c *checker) aligned(e *expr.Expr, u use) {
	if kind := c.names[e.Name].kind; kind != kindInput && kind != kindOutput {
		c.misuse(e, u, "", "aligned asks about an input or output, %s is none", e.Name)
	} else if slices.ContainsFunc(slices.Concat(c.op.Inputs, c.op.Outputs), func(a opdef.Arg) bool { return a.Name == e.Name && a.List }) {
		c.diags.Add(c.doc.In(u.path, e.Col), code.List, "let the kernel look at each", "aligned says nothing about the arrays of list %s", e.Name)
	}
	if n := e.Args[0]; n.Op != expr.OpConst || n.Value <= 0 || bits.OnesCount64(uint64(n.Value)) != 1 {
		c.misuse(n, u, "", "%s is no power of two", n.Text)
	}
}

// defaults checks what waited for the sizes: computed defaults, dtype attributes, and ranges of contents.
func (c *checker) defaults() {
	for i := range c.op.Attrs {
		a, path := &c.op.Attrs[i], tomldoc.Element("attrs", i)
		if a.DefaultExpr != nil {
			u := use{path: tomldoc.Join(path, "default"), float: a.Type == "float"}
			c.integer(a.DefaultExpr, u)
		}
		if a.Type == "dtype" {
			c.binds(a, path)
		}
	}
	for i, in := range c.raw.Inputs {
		u := use{float: true, list: in.List}
		if in.Optional {
			u.arg = in.Name
		}
		path := tomldoc.Element("inputs", i)
		c.op.Inputs[i].Unchecked = c.unchecked(path, &c.raw.Inputs[i])
		c.contents(path, &c.op.Inputs[i], in.Min, in.Max, u)
	}
	for i, out := range c.raw.Outputs {
		c.contents(tomldoc.Element("outputs", i), &c.op.Outputs[i], out.Min, out.Max, use{})
	}
	for i, s := range c.raw.Scratch {
		c.contents(tomldoc.Element("scratch", i), &c.op.Scratch[i], s.Min, s.Max, use{})
	}
}

// unchecked reads the key contents.
func (c *checker) unchecked(path string, in *raw.Input) bool {
	where := tomldoc.Join(path, "contents")
	switch {
	case !c.doc.Given(where):
	case in.Contents != raw.Unchecked:
		c.report(where, code.Choice, `"unchecked", or leave it out`, "unknown contents %q", in.Contents)
	case in.Min == nil && in.Max == nil && !in.Sorted:
		c.report(where, code.Choice, "leave it out", "%s has no min, max or sorted that would be checked", in.Name)
	}
	return in.Contents == raw.Unchecked
}

// contents checks the range of an argument's elements, and whether they can be log-sum-exps. What the op writes has a range so that its
// integers are known to fit: other numbers need none.
func (c *checker) contents(path string, arg *opdef.Arg, low, high any, u use) {
	if arg.LSE != nil && slices.ContainsFunc(c.op.Allowed(*arg), func(short string) bool { return isComplex(short) || isInteger(short) }) {
		c.report(tomldoc.Join(path, "lse"), code.LSE, "leave lse out", "%s: only floating-point numbers are log-sum-exps", arg.Name)
	}
	written, given := !u.float, low != nil || high != nil
	if (given || arg.Sorted) && slices.ContainsFunc(c.op.Allowed(*arg), isComplex) {
		c.report(path, code.MinMax, "leave min, max and sorted out", "%s: complex numbers have no order", arg.Name)
		return
	}
	if given && written && !slices.ContainsFunc(c.op.Allowed(*arg), opdef.HoldsPositions) {
		c.report(path, code.MinMax, "leave min and max out", "%s: only integers of 16 bits and more that the op writes have a range", arg.Name)
		return
	}
	arg.Min, arg.Max = c.bounds(tomldoc.Join(path, "min"), low, arg, u), c.bounds(tomldoc.Join(path, "max"), high, arg, u)
	if arg.Min == nil || arg.Max == nil {
		return
	}
	least, err := arg.Min.EvalExact(expr.NoValues{})
	most, err2 := arg.Max.EvalExact(expr.NoValues{})
	if err == nil && err2 == nil && least.Cmp(most) > 0 {
		c.report(tomldoc.Join(path, "min"), code.MinMax, "", "%s: min %s is greater than max %s", arg.Name, arg.Min.Text, arg.Max.Text)
	}
}

func isInteger(short string) bool {
	row, known := dtype.Lookup(short)
	return known && !row.Inexact()
}

func isComplex(short string) bool {
	row, known := dtype.Lookup(short)
	return known && row.Complex()
}

// bounds converts min or max of an argument's elements: a number, or an expression of sizes.
func (c *checker) bounds(path string, value any, in *opdef.Arg, u use) *expr.Expr {
	text := ""
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		text = v
	case int64, float64:
		if !raw.Finite(opdef.NumberValue(v)) {
			c.report(path, code.MinMax, "leave it out", "%s: a bound must be finite", path)
			return nil
		}
		text = tomldoc.Show(v)
	default:
		c.report(path, code.MinMax, "", "%s: expected a number or an expression, got %s", path, tomldoc.TypeWord(value))
		return nil
	}
	e, err := expr.Parse(text)
	if err != nil {
		c.syntax(path, code.Expr, err)
		return nil
	}
	u.path = path
	if c.integer(e, u) && in.List {
		c.sizesOfList(path, in.Name, in.Name, c.expand(e))
	}
	return e
}
