package gen

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/rule"
)

// checks gives _checks.py of the backend package: the rules of every op as Python statements.
func checks(c *Collection) Draft {
	all := struct {
		Header string
		Ops    []*checkView
	}{Header: header()}
	for _, op := range c.Ops {
		all.Ops = append(all.Ops, &checkView{op})
	}
	return Draft{"checks/checks.py.tmpl", path.Join(backendDir(c), "_checks.py"), all}
}

// checkView prints the rules of an op as Python statements. Arguments keep their names with a prefix, so that no name of
// a definition can hide a local of the function: x_ is the array x, x_s its shape, x_t its dtype.
type checkView struct{ *opView }

func pyArg(s string) string { return s + "_" }

func pyPair(s string) string { return fmt.Sprintf("(%q, %s)", s, pyArg(s)) }

// Parameters is the parameter list: framework, inputs, attrs, out; all positional.
func (v *checkView) Parameters() string {
	out := []string{"fw: Framework"}
	for _, a := range v.Inputs {
		out = append(out, pyArg(a.Name)+": Any")
	}
	for _, a := range v.Attrs {
		out = append(out, pyArg(a.Name)+": Any")
	}
	return "\n    " + strings.Join(append(out, "out: tuple[Any, ...] | None = None"), ",\n    ") + ",\n"
}

// Lines is the body: one statement per rule, then the specs.
func (v *checkView) Lines() []string {
	var needed, all []string
	for _, a := range v.Inputs {
		all = append(all, pyPair(a.Name))
		if !a.Optional {
			needed = append(needed, pyPair(a.Name))
		}
	}
	out := []string{fmt.Sprintf("_r.required(op, %s)", pyTuple(needed)), fmt.Sprintf("_r.arrays(fw, op, %s)", pyTuple(all))}
	guarded(v.Program.Rules, v.statement, func(arg string, lines []string) {
		if arg != "" {
			lines = append([]string{"if " + pyArg(arg) + " is not None:"}, indent(pyIndent, lines)...)
		}
		out = append(out, lines...)
	})
	return wrap(dropUnused(append(out, v.result(pyTuple(all))...)))
}

func pyStrings(items []string) string { return tupleNode("", quoted(items)).flat() }

func (v *checkView) expr(e *expr.Expr) string { return pyExpr(pyArg).print(e) }

// raise guards an error by a condition.
func raise(condition, format string, args ...any) []string {
	return []string{"if " + condition + ":", "    raise " + fmt.Sprintf(format, args...)}
}

func (v *checkView) statement(r rule.Rule) []string {
	arg, name := pyArg(r.Arg), strconv.Quote(r.Arg)
	switch r.Kind {
	case rule.AttrType:
		return v.readAttr(r)
	case rule.AttrMin:
		return v.bound(r, ">=", "at_least")
	case rule.AttrMax:
		return v.bound(r, "<=", "at_most")
	case rule.AttrOneOf:
		return raise(arg+" not in "+pyStrings(r.Allowed), "_r.choice(op, %s, %s, %s)", name, pyStrings(r.Allowed), arg)
	case rule.Device:
		return one("_r.same_device(fw, op, %s, %s, %q, %s)", name, arg, r.Other, pyArg(r.Other))
	case rule.DTypeIn:
		out := one("%st = fw.dtype(%s)", arg, arg)
		if r.Var != "" {
			out = one("%s = %st = fw.dtype(%s)", pyArg(r.Var), arg, arg)
		}
		return append(out, raise(arg+"t not in "+pyStrings(r.Allowed), "_r.dtype_in(op, %s, %s, %st)", name, pyStrings(r.Allowed), arg)...)
	case rule.DTypeAs:
		return append(one("%st = fw.dtype(%s)", arg, arg),
			raise(arg+"t != "+pyArg(v.dtypeVar(r.Arg)), "_r.dtype_as(op, %s, %s, %q, %st)", name, pyArg(v.dtypeVar(r.Arg)), r.Other, arg)...)
	case rule.Rank:
		return v.rank(r)
	default:
		return v.size(r)
	}
}

func (v *checkView) dtypeVar(arg string) string {
	i := v.InputIndex(arg)
	return v.Inputs[i].Type.Var
}

func (v *checkView) rank(r rule.Rule) []string {
	arg := pyArg(r.Arg)
	out := one("%ss = fw.shape(%s)", arg, arg)
	if r.AtLeast {
		if r.Rank == 0 {
			return out
		}
		return append(out, raise(fmt.Sprintf("len(%ss) < %d", arg, r.Rank), "_r.rank(op, %q, %d, %ss, \"at least \")", r.Arg, r.Rank, arg)...)
	}
	return append(out, raise(fmt.Sprintf("len(%ss) != %d", arg, r.Rank), "_r.rank(op, %q, %d, %ss)", r.Arg, r.Rank, arg)...)
}

func (v *checkView) size(r rule.Rule) []string {
	arg := pyArg(r.Arg)
	switch r.Kind {
	case rule.BatchBind:
		return one("batch = tuple(%s)", v.leading(arg, r.Rank))
	case rule.BatchAs:
		return raise("tuple("+v.leading(arg, r.Rank)+") != batch", "_r.batch(op, %q, batch, %q, %ss)", r.Arg, r.Other, arg)
	case rule.SizeBind:
		if r.Form == r.Symbol {
			return one("%s = %ss[%d]", pyArg(r.Symbol), arg, r.Dim)
		}
		return one("%s = _r.solve(op, %q, %ss, %d, %s, %s, %q)", pyArg(r.Symbol), r.Arg, arg, r.Dim, v.expr(r.Coef), v.expr(r.Const), r.Form)
	case rule.SizeIs:
		want := v.expr(r.Expr)
		return raise(fmt.Sprintf("%ss[%d] != %s", arg, r.Dim, want), "_r.size(op, %q, %ss, %d, %s, %s)", r.Arg, arg, r.Dim, want, v.why(r.Why))
	case rule.Let:
		return pyExpr(pyArg).assign(r.Symbol, r.Expr, lineLength-len(pyIndent))
	case rule.Require:
		return raise("not ("+v.expr(r.Expr)+")", "_r.require(op, %q, %s)", r.Form, v.why(r.Why))
	case rule.Layout:
		if r.Mutated {
			return one("fw.check_mutated(op, %q, %s, %q)", r.Arg, arg, r.Stride)
		}
	case rule.Distinct:
		return one("_m.distinct(fw, op, %q, %s)", r.Arg, arg)
	case rule.OutSize:
		return raise(v.expr(r.Expr)+" < 0", "_r.negative_size(op, %q, %q, %s)", r.What, r.Form, v.expr(r.Expr))
	}
	return nil
}

func (v *checkView) leading(arg string, trailing int) string {
	if trailing == 0 {
		return arg + "s"
	}
	return fmt.Sprintf("%ss[:-%d]", arg, trailing)
}

func (v *checkView) why(why []rule.Origin) string {
	if len(why) == 0 {
		return "()"
	}
	var out []string
	for _, w := range why {
		out = append(out, fmt.Sprintf("(%q, %s, %q)", w.Name, pyArg(w.Name), w.Of))
	}
	return pyTuple(out)
}

// readAttr normalises an attr to the type that crosses the ABI; an absent computed default stays None.
func (v *checkView) readAttr(r rule.Rule) []string {
	a, arg := r.Attr, pyArg(r.Arg)
	switch {
	case a.Type == "dtype":
		return v.readDType(r)
	case a.Len > 0:
		return one("%s = _r.as_ints(op, %q, %s, %d)", arg, a.Name, arg, a.Len)
	case a.DefaultExpr != nil:
		return append(one("if %s is not None:", arg), indent(pyIndent, one("%s = _r.as_%s(op, %q, %s)", arg, a.Type, a.Name, arg))...)
	}
	return one("%s = _r.as_%s(op, %q, %s)", arg, a.Type, a.Name, arg)
}

// readDType leaves an absent dtype attr None where it has a default: that names a dtype variable, which is known later.
func (v *checkView) readDType(r rule.Rule) []string {
	arg := pyArg(r.Arg)
	read := one("%s = _r.as_dtype(fw, op, %q, %s, %s)", arg, r.Arg, arg, pyStrings(r.Allowed))
	if !r.Attr.HasDefault {
		return read
	}
	return append(one("if %s is not None:", arg), indent(pyIndent, read)...)
}

func (v *checkView) bound(r rule.Rule, sign, text string) []string {
	arg := pyArg(r.Arg)
	lines := raise(fmt.Sprintf("not %s %s %s", arg, sign, r.Bound), "_r.%s(op, %q, %q, %s)", text, r.Arg, r.Bound, arg)
	switch {
	case r.Attr.Len > 0:
		item := raise(fmt.Sprintf("not item %s %s", sign, r.Bound), "_r.%s(op, %q, %q, item)", text, r.Arg, r.Bound)
		return append(one("for item in %s:", arg), indent(pyIndent, item)...)
	case r.Attr.DefaultExpr != nil:
		return append(one("if %s is not None:", arg), indent(pyIndent, lines)...)
	}
	return lines
}
