package cpp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// Statements is the body of the export: one C++ statement per rule, in order.
func (v *opView) Statements() []string {
	out := v.required()
	for _, a := range slices.Concat(v.Inputs, v.Outputs, v.Scratch) {
		out = append(out, v.declareArray(&a))
	}
	for _, d := range v.DTypes {
		out = append(out, v.carriedDType(d)...)
	}
	out = append(out, v.hoisted()...)
	if v.Broadcasts() {
		out = append(out, "opcast::Leading lead;")
	}
	view.Guarded(v.Program.Rules, v.IsList, v.statement, func(g view.Guard, lines []string) {
		if g.When != nil {
			lines = block("if ("+v.expr(g.When)+") {", lines)
		}
		out = append(out, ifGiven(g.If, v.overList(g.List, lines))...)
	})
	if v.Broadcasts() {
		out = append(out, "const int64_t batch = lead.count();")
	}
	return out
}

// join takes the leading dims of an input in, which are broadcast with those of others.
func (v *opView) join(r rule.Rule) []string {
	var before []string
	for _, name := range r.Others {
		_, trailing := rule.Trailing(v.input(name).Type)
		before = append(before, fmt.Sprintf("{&%s, %d}", variable(name), trailing))
	}
	return one("lead.Join(call, %s, %d, {%s});", variable(r.Arg), r.Rank, strings.Join(before, ", "))
}

// hoisted declares what rules bind under a condition: the block of an input that is given, or of a choice of attributes, ends before
// its use. The dtype of an input that is left out is the first one allowed.
func (v *opView) hoisted() []string {
	var out []string
	for _, r := range v.Program.Rules {
		if r.Kind == rule.DTypeIn && r.Var != "" && r.If != "" {
			out = append(out, fmt.Sprintf("opcast::DType %s = %s;", variable(r.Var), enumerator(v.Allowed(*v.input(r.Arg))[0])))
		}
		if r.Kind == rule.DTypeIn && r.Var != "" && v.IsList(r.Arg) {
			out = append(out, fmt.Sprintf("const opcast::DType %s = %s.dtype();", variable(r.Var), v.first(r.Arg)))
		}
		if r.Kind == rule.SizeBind && v.Differs(r.Symbol) {
			head := "std::vector<int64_t> " + variable(r.Symbol)
			if !slices.ContainsFunc(out, func(line string) bool { return strings.HasPrefix(line, head+"(") }) {
				out = append(out, fmt.Sprintf("%s(%s.size());", head, variable(r.Arg)))
			}
			continue
		}
		line := "int64_t " + variable(r.Symbol) + " = 0;"
		if r.Kind == rule.SizeBind && (r.If != "" || r.When != nil || v.IsList(r.Arg)) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// block puts statements under a head.
func block(head string, lines []string) []string {
	return append(append([]string{head}, view.Indent(step, lines)...), "}")
}

// step is one level of indentation.
const step = "  "

// ifGiven puts statements under the condition that an array is given; "" stands for no condition.
func ifGiven(arg string, lines []string) []string {
	if arg == "" {
		return lines
	}
	return block("if ("+variable(arg)+") {", lines)
}

// statement prints one rule.
func (v *opView) statement(r rule.Rule) []string {
	name := v.variable(r.Arg)
	switch r.Kind {
	case rule.AttrType:
		return v.readAttr(r.Attr)
	case rule.AttrMin:
		return v.attrBound(r, "AtLeast")
	case rule.AttrMax:
		return v.attrBound(r, "AtMost")
	case rule.AttrOneOf:
		return v.among(r)
	case rule.Device:
		return one("call.SameDevice(%s, %s);", name, v.first(r.Other))
	case rule.DTypeIn:
		return v.dtypeIn(r)
	case rule.DTypeAs:
		return one("call.DTypeAs(%s, %s, %q);", name, variable(r.Var), v.FirstName(r.Other))
	case rule.Rank:
		if r.AtLeast {
			return one("call.RankAtLeast(%s, %d);", name, r.Rank)
		}
		return one("call.Rank(%s, %d);", name, r.Rank)
	case rule.BatchBind, rule.BatchJoin:
		switch {
		case v.Broadcasts():
			return v.join(r)
		case v.IsList(r.Arg) && !r.Own:
			return one("call.SameBatch(%s, %d, %s, %d);", name, r.Rank, v.first(r.Arg), r.Rank)
		}
		return nil
	case rule.BatchAs:
		_, first := rule.Trailing(v.input(r.Other).Type)
		other := v.first(r.Other)
		if r.Own {
			other = v.variable(r.Other)
		}
		return one("call.SameBatch(%s, %d, %s, %d);", name, r.Rank, other, first)
	default:
		return v.sizeStatement(r)
	}
}

// sizeStatement prints the rules on sizes, on memory and on the whole call.
func (v *opView) sizeStatement(r rule.Rule) []string {
	name := v.variable(r.Arg)
	switch r.Kind {
	case rule.SizeBind:
		return v.bindSize(r)
	case rule.SizeIs:
		return one("call.Size(%s, %d, %s, {%s});", name, r.Dim, v.expr(r.Expr), v.whyList(r.Why, v.IsList(r.Arg)))
	case rule.Layout:
		check := map[string]string{"": "Dense", "last": "LastDense", "any": "AnyStride"}[r.Stride]
		return one("call.%s(%s); call.Data(%s);", check, name, name)
	case rule.Distinct:
		return one("call.Distinct(%s);", name)
	case rule.Let:
		return one("const int64_t %s = %s;", variable(r.Symbol), v.expr(r.Expr))
	case rule.Carried:
		return v.carried(r)
	case rule.Require:
		if r.Hint != "" {
			return one("call.Require(%s, %q, {%s}, %q);", v.expr(unlike(r.Expr)), r.Form, v.whyList(r.Why, false), r.Hint)
		}
		return one("call.Require(%s, %q, {%s});", v.expr(unlike(r.Expr)), r.Form, v.whyList(r.Why, false))
	case rule.OutSize:
		if v.IsList(r.Arg) {
			return one("call.OutputSize((\"output \" + std::string(%s.name())).c_str(), %q, %s);", name, r.Form, v.expr(r.Expr))
		}
		return one("call.OutputSize(%q, %q, %s);", r.What, r.Form, v.expr(r.Expr))
	case rule.Presence:
		other := variable(r.Other)
		if v.Switch(r.Tensor) != nil {
			return one("call.Present(%s, %s, %s ? %q : %q);", name, other, other, r.Other+" is true", r.Other+" is false")
		}
		return one("call.Present(%s, bool(%s), %s.name());", name, other, other)
	case rule.Output:
		return v.output(r)
	case rule.Scratch:
		return v.scratchRules(r)
	case rule.Apart:
		return []string{v.apart(r.Arg, r.Others, false)}
	}
	return nil
}

// bindSize reads a size off a dim.
func (v *opView) bindSize(r rule.Rule) []string {
	differs := v.Differs(r.Symbol)
	switch {
	case v.IsList(r.Arg) && !differs:
		return v.bindShared(r)
	case r.If != "" || r.When != nil || differs:
		return one("%s = %s;", v.variable(r.Symbol), v.solve(r))
	}
	return one("const int64_t %s = %s;", variable(r.Symbol), v.solve(r))
}

// carried checks the output that tells a dtype.
func (v *opView) carried(r rule.Rule) []string {
	i := slices.IndexFunc(v.Outputs, func(a opdef.Arg) bool { return a.Name == r.Arg })
	check := one("call.DTypeIn(%s, {%s});", v.variable(r.Arg), v.choices(r.Var))
	if absentWhen(v.Op, &v.Outputs[i]) != "" {
		return ifGiven(r.Arg, check)
	}
	return check
}

// one is a statement as the only line.
func one(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

func (v *opView) expr(e *expr.Expr) string { return v.printer(v.variable).Print(e) }

func (v *opView) solve(r rule.Rule) string {
	name := v.variable(r.Arg)
	if r.Form == r.Symbol {
		return fmt.Sprintf("%s.size(%d)", name, r.Dim)
	}
	return fmt.Sprintf("call.Solve(%s, %d, %s, %s, %q)", name, r.Dim, v.expr(r.Coef), v.expr(r.Const), r.Form)
}

func (v *opView) whyList(why []rule.Origin, each bool) string {
	var out []string
	for _, w := range why {
		of := "nullptr"
		switch {
		case v.IsList(w.Name): // of which only the length can be meant
			out = append(out, fmt.Sprintf("{\"len(%s)\", opcast::Len(%s), nullptr}", w.Name, variable(w.Name)))
			continue
		case each && v.IsList(w.Of):
			of = v.variable(w.Of) + ".name()"
		case w.Of != "":
			of = strconv.Quote(w.Of)
		}
		value := v.shown(w.Name)
		if each {
			value = strings.Replace(value, variable(w.Name), v.variable(w.Name), 1)
		}
		out = append(out, fmt.Sprintf("{%q, %s, %s}", w.Name, value, of))
	}
	return strings.Join(out, ", ")
}

// shown is the value of a name in a message; that of a choice is its text.
func (v *opView) shown(name string) string {
	for i := range v.Attrs {
		if a := &v.Attrs[i]; a.Name == name && len(a.OneOf) > 0 {
			return fmt.Sprintf("call.Str(%s, %q)", v.Place(name), name)
		}
	}
	return variable(name)
}

// enumerators lists the dtypes that an argument may have.
func (v *opView) enumerators(arg string) string {
	var short []string
	for _, a := range slices.Concat(v.Inputs, v.Outputs, v.Scratch) {
		if a.Name != arg {
			continue
		}
		short = []string{a.Type.DType}
		for _, d := range v.DTypes {
			if d.Name == a.Type.Var {
				short = d.OneOf
			}
		}
	}
	return enumerators(short)
}
