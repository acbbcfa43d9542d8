package python

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/python/stub"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// checks gives _gen/checks.py of the backend package: the rules of every op as Python statements.
func checks(c *view.Collection) view.Draft {
	all := &checksView{Header: view.Header()}
	for _, op := range c.Ops {
		v := &checkView{op}
		all.Ops, all.Chooses = append(all.Ops, v), all.Chooses || len(v.hoisted()) > 0
		all.Computes = all.Computes || calls(ofArithmetic, slices.Concat(v.body(), v.flopBody()))
	}
	return view.Draft{Template: "checks/checks.py.tmpl", Path: c.Project.GeneratedModule("checks"), Data: all}
}

// checksView is what the template of the checks sees.
type checksView struct {
	Header string
	Ops    []*checkView
	// Chooses says that a size, in capitals as in its definition, has an assignment for each choice of dims.
	Chooses bool
	// Computes says that some size is computed.
	Computes bool
}

// checkView prints the rules of an op as Python statements. Arguments keep their names with a prefix, so that no name of
// a definition can hide a local of the function: x_ is the array x, x_s its shape, x_t its dtype.
type checkView struct{ *view.Compiled }

// variable is the one that holds an argument, a size or a dtype of the definition.
func variable(name string) code { return reading(name + "_") }

// shapeOf and dtypeOf are the variables that hold the shape and the dtype of an array.
func shapeOf(arg string) code { return reading(arg + "_s") }

func dtypeOf(arg string) code { return reading(arg + "_t") }

// batch is the variable that holds the leading dims.
var batch = reading("batch")

// Parameters is the parameter list: framework, inputs, attrs, out; all positional.
func (v *checkView) Parameters() string {
	return parameterList(append(v.arguments(), "out: tuple[Any, ...] | None = None"))
}

func parameterList(list []string) string { return "\n    " + strings.Join(list, ",\n    ") + ",\n" }

// arguments are the parameters for framework, inputs and attrs.
func (v *checkView) arguments() []string {
	out := []string{"fw: Framework"}
	for _, a := range v.Inputs {
		out = append(out, variable(a.Name).text+": Any")
	}
	for _, a := range v.Attrs {
		out = append(out, variable(a.Name).text+": Any")
	}
	return out
}

// Lines is the function's body.
func (v *checkView) Lines() []string {
	return view.Wrap(lines(v.body()), layout.Step, layout.LineLength)
}

// body are the statements of each rule, then the specs.
func (v *checkView) body() []statement {
	var needed, all []code
	for _, a := range v.Inputs {
		all = append(all, v.named(&a))
		if !a.Optional {
			needed = append(needed, v.named(&a))
		}
	}
	out := append(v.lists(), do("_r.required(op, %s)", tupleOf(needed))...)
	out = append(out, do("_r.arrays(fw, op, %s%s)", tupleOf(all), v.numberWords())...)
	out = append(out, v.hoisted()...)
	out = append(out, v.ruled(v.statement)...)
	return joinGiven(dropUnused(append(out, v.result(tupleOf(all))...)))
}

// numberWords is the argument that names the inputs that may be numbers, each with the type of those; "" where there are none.
func (v *checkView) numberWords() string {
	var pairs []string
	for i := range v.Inputs {
		if in := &v.Inputs[i]; v.TakesNumber(in) {
			pairs = append(pairs, quotedTuple([]string{in.Name, v.NumberType(in)}))
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return ", " + layout.Tuple(pairs)
}

func quotedTuple(items []string) string { return layout.TupleNode("", quoted(items)).Flat() }

func (v *checkView) expr(e *expr.Expr) (c code) {
	c.text = v.printer(noting(&c, v.symbol)).Print(e)
	return c
}

func (v *checkView) statement(r rule.Rule) []statement {
	arg := v.item(r.Arg)
	switch r.Kind {
	case rule.AttrType:
		return v.readAttr(r)
	case rule.AttrMin:
		return v.bound(r, ">=", "at_least")
	case rule.AttrMax:
		return v.bound(r, "<=", "at_most")
	case rule.AttrOneOf:
		allowed := layout.Tuple(stub.Values(r.Attr))
		return v.whereGiven(r, raise(codef("%s not in %s", arg, allowed), "_r.choice(op, %q, %s, %s)", r.Arg, allowed, arg))
	case rule.Device:
		return do("_r.same_device(fw, op, %s, %s, %q, %s)", v.label(r.Arg), arg, v.FirstName(r.Other), v.first(r.Other))
	case rule.DTypeIn:
		return v.dtypeIn(r)
	case rule.DTypeAs:
		return v.dtypeAs(r)
	case rule.Rank:
		return v.rank(r)
	default:
		return v.size(r)
	}
}

func (v *checkView) dtypeIn(r rule.Rule) []statement {
	targets := []code{dtypeOf(r.Arg)}
	if r.Var != "" {
		targets = []code{variable(r.Var), dtypeOf(r.Arg)}
	}
	allowed := quotedTuple(r.Allowed)
	among := raise(codef("%s not in %s", dtypeOf(r.Arg), allowed), "_r.dtype_in(op, %s, %s, %s)", v.label(r.Arg), allowed, dtypeOf(r.Arg))
	if v.IsList(r.Arg) && r.Var != "" { // the first array decides
		as := raise(codef("%s != %s", dtypeOf(r.Arg), variable(r.Var)),
			"_r.dtype_as(op, %s, %s, %q, %s)", v.label(r.Arg), variable(r.Var), v.FirstName(r.Arg), dtypeOf(r.Arg))
		out := append(set(codef("fw.dtype(%s)", v.item(r.Arg)), dtypeOf(r.Arg)), block(codef("if %s == 0:", number), among)...)
		return append(out, otherwise(as)...)
	}
	return append(set(codef("fw.dtype(%s)", v.item(r.Arg)), targets...), among...)
}

// dtypeAs compares with the dtype of an earlier input, or with the one that an attr sets.
func (v *checkView) dtypeAs(r rule.Rule) (out []statement) {
	want := variable(r.Var)
	if v.InputIndex(r.Other) < 0 {
		out = set(v.dtype(v.Inputs[v.InputIndex(r.Arg)].Type), want)
	}
	out = append(out, set(codef("fw.dtype(%s)", v.item(r.Arg)), dtypeOf(r.Arg))...)
	return append(out, raise(codef("%s != %s", dtypeOf(r.Arg), want), "_r.dtype_as(op, %s, %s, %q, %s)", v.label(r.Arg), want, v.FirstName(r.Other), dtypeOf(r.Arg))...)
}

func (v *checkView) rank(r rule.Rule) []statement {
	shape := shapeOf(r.Arg)
	out := set(codef("fw.shape(%s)", v.item(r.Arg)), shape)
	if r.AtLeast {
		if r.Rank == 0 {
			return out
		}
		return append(out, raise(codef("len(%s) < %d", shape, r.Rank), "_r.rank(op, %s, %d, %s, \"at least \")", v.label(r.Arg), r.Rank, shape)...)
	}
	return append(out, raise(codef("len(%s) != %d", shape, r.Rank), "_r.rank(op, %s, %d, %s)", v.label(r.Arg), r.Rank, shape)...)
}

func (v *checkView) size(r rule.Rule) []statement {
	arg, shape := v.item(r.Arg), shapeOf(r.Arg)
	switch r.Kind {
	case rule.BatchBind, rule.BatchJoin, rule.BatchAs:
		return v.batchRule(r)
	case rule.SizeBind:
		return v.bindSize(r)
	case rule.SizeIs:
		want := v.expr(r.Expr)
		return raise(codef("%s[%d] != %s", shape, r.Dim, want), "_r.size(op, %s, %s, %d, %s, %s)", v.label(r.Arg), shape, r.Dim, want, v.why(r.Why, v.IsList(r.Arg)))
	case rule.Let:
		return v.let(r)
	case rule.Require:
		if r.Huge { // the library's: a comparison would end the export of programs for any size
			return nil
		}
		if r.Hint != "" {
			return raise(codef("not (%s)", v.expr(r.Expr)), "_r.require(op, %s, %s, %q)", layout.Quote(r.Form), v.why(r.Why, false), r.Hint)
		}
		return raise(codef("not (%s)", v.expr(r.Expr)), "_r.require(op, %s, %s)", layout.Quote(r.Form), v.why(r.Why, false))
	case rule.Layout:
		if r.Mutated {
			return do("fw.check_mutated(op, %s, %s, %q)", v.label(r.Arg), arg, r.Stride)
		}
	case rule.Distinct:
		return do("_m.distinct(fw, op, %s, %s)", v.label(r.Arg), arg)
	case rule.OutSize:
		size, what := v.expr(r.Expr), codef("%q", r.What)
		if v.IsList(r.Arg) {
			what = codef("\"output \" + %s", elementName(r.Arg))
		}
		return raise(codef("%s < 0", size), "_r.negative_size(op, %s, %q, %s)", what, r.Form, size)
	}
	return nil
}

// let computes a size, in several lines if it is long.
func (v *checkView) let(r rule.Rule) []statement {
	var out []statement
	for _, part := range view.Split(v.printer(func(s string) string { return v.symbol(s).text }), r.Symbol, r.Expr, layout.LineLength-len(layout.Step)) {
		out = append(out, set(alone(v.expr(part.Expr), part.Expr), variable(part.Name))...)
	}
	return out
}

// leading are the leading dims of a shape, all but some trailing ones.
func leading(shape code, trailing int) code {
	if trailing == 0 {
		return shape
	}
	return codef("%s[:-%d]", shape, trailing)
}

// why explains names; each says that those of lists are about one array.
func (v *checkView) why(why []rule.Origin, each bool) code {
	var out []code
	for _, w := range why {
		switch {
		case v.IsList(w.Name): // of which only the length can be meant
			out = append(out, codef("(\"len(%s)\", len(%s), \"\")", w.Name, variable(w.Name)))
		case v.Differs(w.Name) && each:
			out = append(out, codef("(%q, %s, %s)", w.Name, v.symbol(w.Name), elementName(w.Of)))
		case v.Differs(w.Name):
			out = append(out, codef("(%q, tuple(%s), %q)", w.Name, variable(w.Name), w.Of))
		default:
			out = append(out, codef("(%q, %s, %q)", w.Name, v.shown(w.Name), w.Of))
		}
	}
	return tupleOf(out)
}

// readAttr normalises an attr to the type that crosses the ABI; one that is absent stays None.
func (v *checkView) readAttr(r rule.Rule) (read []statement) {
	a, arg := r.Attr, variable(r.Arg)
	switch {
	case a.Type == "dtype":
		return v.readDType(r)
	case a.Len > 0:
		read = set(codef("_r.as_ints(op, %q, %s, %d)", a.Name, arg, a.Len), arg)
	case a.Len < 0:
		read = set(codef("_r.as_any_ints(op, %q, %s)", a.Name, arg), arg)
	default:
		read = set(codef("_r.as_%s(op, %q, %s)", a.Type, a.Name, arg), arg)
	}
	if a.MayBeNone() {
		return ifGiven(arg, read)
	}
	return read
}

// readDType leaves an absent dtype attr None where it has a default: that names a dtype variable, which is known later.
func (v *checkView) readDType(r rule.Rule) []statement {
	arg := variable(r.Arg)
	read := set(codef("_r.as_dtype(fw, op, %q, %s, %s)", r.Arg, arg, quotedTuple(r.Allowed)), arg)
	if !r.Attr.HasDefault {
		return read
	}
	return ifGiven(arg, read)
}

// whereGiven puts the check of an attr that may be absent under the condition that it is given.
func (v *checkView) whereGiven(r rule.Rule, body []statement) []statement {
	if r.Attr.MayBeNone() {
		return ifGiven(variable(r.Arg), body)
	}
	return body
}

func (v *checkView) bound(r rule.Rule, sign, text string) []statement {
	arg, item := variable(r.Arg), reading("item")
	within := func(value code) []statement {
		return raise(codef("not %s %s %s", value, sign, r.Bound), "_r.%s(op, %q, %q, %s)", text, r.Arg, r.Bound, value)
	}
	body := within(arg)
	if r.Attr.Len != 0 {
		body = block(codef("for %s in %s:", item, arg), within(item))
	}
	return v.whereGiven(r, body)
}
