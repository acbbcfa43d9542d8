package load

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// use says where an expression stands and what it may hold there.
type use struct {
	// path is the string that holds the expression.
	path string
	// declare allows new sizes: input types introduce them.
	declare bool
	// float allows numbers with a decimal point and negative powers.
	float bool
	// when allows aligned.
	when bool
	// attrs allows attributes only.
	attrs bool
	// condition says that the expression is a condition, which also compares what is no size.
	condition bool
	// list allows sizes that differ from one array of a list to the next.
	list bool
	// arg is an optional input whose own sizes may be used, or "".
	arg string
}

// sizesOf checks every expression outside the input types, whose sizes are bound by now.
func (c *checker) sizesOf() {
	for i, arg := range c.op.Outputs {
		c.dims(&arg, use{path: tomldoc.Join(tomldoc.Element("outputs", i), "type"), arg: arg.PresentIf, list: arg.List})
	}
	for i, arg := range c.op.Scratch {
		c.dims(&arg, use{path: tomldoc.Join(tomldoc.Element("scratch", i), "type")})
	}
	for _, let := range c.op.Lets {
		c.integer(let.Expr, use{path: tomldoc.Join("let", let.Name)})
	}
}

// dims checks the type of an output or scratch tensor.
func (c *checker) dims(arg *opdef.Arg, u use) {
	for _, d := range arg.Type.Dims {
		switch {
		case d.Expr != nil:
			c.dim(d.Expr, u)
			continue
		case c.open:
			continue
		}
		leads := arg.Type.Lead()
		binds := func(in opdef.Arg) bool { return in.Type.Lead() == leads }
		switch {
		case !slices.ContainsFunc(c.op.Inputs, binds):
			c.report(u.path, code.Leading, "", "%s: no input has the leading dims %q", arg.Name, leads)
		default:
			c.optionalOnly("*", c.doc.In(u.path, 0), u)
		}
	}
}

// optionalOnly reports a size, or "*", that is known only when an optional input is given.
func (c *checker) optionalOnly(name string, pos diag.Pos, u use) {
	if input := c.fromOptional[name]; input != "" && input != u.arg {
		c.diags.Add(pos, code.Optional, "give it to a required input too", "%q is bound only by the optional input %s", name, input)
	}
}

// dim checks an expression that is a dim: an integer that cannot be a negative constant.
func (c *checker) dim(e *expr.Expr, u use) {
	if !c.integer(e, u) {
		return
	}
	if v, err := e.Eval(expr.NoValues{}); err == nil && v < 0 {
		c.diags.Add(c.doc.In(u.path, e.Col), code.Constant, "", "%s: a dimension cannot be negative", e.Text)
	}
}

// integer checks an expression that stands for a size.
func (c *checker) integer(e *expr.Expr, u use) bool { return c.number(e, u) && c.constants(e, u) }

func (c *checker) misuse(e *expr.Expr, u use, hint, format string, args ...any) bool {
	c.diags.Add(c.doc.In(u.path, e.Col), code.Misuse, hint, format, args...)
	return false
}

// number checks an expression whose value is a number.
func (c *checker) number(e *expr.Expr, u use) bool {
	switch e.Op {
	case expr.OpConst:
		return true
	case expr.OpFloat:
		return u.float || c.misuse(e, u, "", "%s: sizes are integers", e.Text)
	case expr.OpSymbol:
		return c.size(e, u)
	case expr.OpIndex:
		return c.index(e, u)
	case expr.OpSum, expr.OpLen:
		return c.list(e, u)
	case expr.OpIf:
		return c.choice(e, u)
	case expr.OpNeg, expr.OpAdd, expr.OpSub, expr.OpMul, expr.OpFloorDiv, expr.OpMod, expr.OpPow, expr.OpMin, expr.OpMax, expr.OpCeilDiv:
		ok := true
		for _, arg := range e.Args {
			ok = c.number(arg, u) && ok
		}
		return ok
	}
	return c.misuse(e, u, "", "%s is true or false, expected a number", e.Text)
}

// choice checks "a if c else b", whose condition is decided before any size is known.
func (c *checker) choice(e *expr.Expr, u use) bool {
	before := len(*c.diags)
	c.condition(e.Args[0], use{path: u.path, attrs: true})
	ok := c.number(e.Args[1], u)
	return c.number(e.Args[2], u) && ok && len(*c.diags) == before
}

// size checks a name that stands for a number.
func (c *checker) size(e *expr.Expr, u use) bool {
	if u.attrs && (c.names[e.Name].attr == nil || c.names[e.Name].attr.Type == "") {
		return c.misuse(e, u, "only attributes can decide about dims", "%s is no attribute", e.Name)
	}
	pos := c.doc.In(u.path, e.Col)
	if known, ok := c.names[e.Name]; ok {
		if u.declare && known.attr == nil && known.kind != kindLet {
			line := c.doc.KeyAt(known.path).Line
			c.diags.Add(pos, code.Duplicate, namespaceHint, "dim %s has the name of the %s in line %d", e.Name, known.kind, line)
			return false
		}
		return c.namedSize(e, known, u)
	}
	if u.declare {
		if ok := c.sizes[e.Name] || c.checkName(e.Name, pos); !ok {
			return false
		}
		c.sizes[e.Name] = true
		return true
	}
	switch {
	case c.perElement[e.Name] && u.list:
	case c.perElement[e.Name]:
		return c.misuse(e, u, "use sum("+e.Name+")", "%s differs from one array of its list to the next", e.Name)
	case c.sizes[e.Name]:
		c.optionalOnly(e.Name, pos, u)
	case !c.open:
		hint := absentHint(e.Name, diag.DidYouMean(e.Name, c.numbers(), "sizes come from the dims of inputs"))
		c.diags.Add(pos, code.Symbol, hint, "unknown symbol %s", e.Name)
		return false
	}
	return true
}

// numbers lists what an expression may name, for hints.
func (c *checker) numbers() []string {
	names := keys(c.sizes)
	for _, name := range keys(c.names) {
		if known := c.names[name]; known.kind == kindLet || known.kind == kindAttr && known.attr.Type == "int" {
			names = append(names, name)
		}
	}
	return names
}

func (c *checker) namedSize(e *expr.Expr, known entity, u use) bool {
	switch {
	case known.kind == kindLet:
		return true
	case known.kind == kindVar:
		return c.misuse(e, u, "", "%s is a dtype variable, expected a number", e.Name)
	case known.kind != kindAttr:
		return c.misuse(e, u, "name one of its dims", "%s is %s, expected a number", e.Name, diag.Indefinite(known.kind))
	case known.attr.Type == "": // reported where it is declared
		return false
	case known.attr.Optional:
		return c.misuse(e, u, "give it a default", "%s may be absent: no size or condition can depend on it", e.Name)
	case known.attr.Len != 0:
		return c.misuse(e, u, "write "+e.Name+"[0]", "%s is a list of integers, expected a number", e.Name)
	case known.attr.Type == "float" && u.condition:
		return c.misuse(e, u, "a float attribute can only be compared, as in "+e.Name+" > 0.5; arithmetic is that of sizes", "%s is a float attribute", e.Name)
	case known.attr.Type != "int":
		return c.misuse(e, u, "only int attributes decide about sizes", "%s is %s attribute", e.Name, diag.Indefinite(known.attr.Type))
	case known.attr.DefaultExpr != nil:
		return c.misuse(e, u, "give it a plain default", "%s has a computed default, which no size can depend on", e.Name)
	}
	return true
}

func (c *checker) index(e *expr.Expr, u use) bool {
	known := c.names[e.Name]
	if known.attr != nil && known.attr.Optional {
		return c.namedSize(e, known, u)
	}
	if known.attr == nil || known.attr.Len < 1 {
		return c.misuse(e, u, "only an int[N] attribute has elements", "%s is not indexable", e.Name)
	}
	if i := e.Args[0]; i.Op != expr.OpConst || i.Value >= int64(known.attr.Len) {
		return c.misuse(i, u, "", "the index of %s must be a constant below %d", e.Name, known.attr.Len)
	}
	return true
}

// list checks sum(n) and len(xs).
func (c *checker) list(e *expr.Expr, u use) bool {
	known, declared := c.names[e.Name]
	if declared && known.attr != nil && known.attr.Optional {
		return c.namedSize(e, known, u)
	}
	isList := declared && known.attr != nil && known.attr.Len != 0
	if e.Op == expr.OpLen && declared && known.kind == kindInput {
		i := c.op.InputIndex(e.Name)
		isList = i >= 0 && c.op.Inputs[i].List
	}
	if e.Op == expr.OpSum && c.perElement[e.Name] {
		if u.declare && u.list {
			return c.misuse(e, u, "only inputs that are no lists, outputs and conditions can depend on all arrays", "%s adds up what arrays of lists tell", e.Text)
		}
		isList = true
	}
	if isList || c.open {
		return true
	}
	if e.Op == expr.OpSum {
		return c.misuse(e, u, "sum adds a size that differs from one array of a list to the next, or an int[] attribute", "%s is no list of numbers", e.Name)
	}
	return c.misuse(e, u, "len counts a list input, or an int[] attribute", "%s is no list", e.Name)
}

// constants reports the parts of an expression that are constant and have no value.
func (c *checker) constants(e *expr.Expr, u use) bool {
	parts := e.Args
	if e.Op == expr.OpIf { // whose condition holds no sizes
		parts = e.Args[1:]
	}
	for _, arg := range parts {
		if !c.constants(arg, u) {
			return false
		}
	}
	divides := e.Op == expr.OpFloorDiv || e.Op == expr.OpMod || e.Op == expr.OpCeilDiv
	var err error
	switch {
	case divides && isConstant(e.Args[1], 0):
		err = fmt.Errorf("%s: %w", e.Text, expr.ErrZeroDivision)
	case e.Op == expr.OpPow && !u.float && e.Args[1].Op == expr.OpNeg:
		err = fmt.Errorf("%s: %w", e.Text, expr.ErrNotInteger)
	case len(e.Symbols()) > 0:
	case u.float:
		_, err = e.EvalFloat(expr.NoValues{})
	default:
		_, err = e.Eval(expr.NoValues{})
	}
	if err != nil {
		c.diags.Add(c.doc.In(u.path, e.Col), code.Constant, "", "%s", err)
	}
	return err == nil
}

// isConstant says whether an expression without names has the given value.
func isConstant(e *expr.Expr, value float64) bool {
	v, err := e.EvalFloat(expr.NoValues{})
	return err == nil && v == value
}
