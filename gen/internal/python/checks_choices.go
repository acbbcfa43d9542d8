package python

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// hoisted gives a value to the sizes that attributes choose how to read: for type checkers, they have one in any case.
func (v *checkView) hoisted() (out []statement) {
	out = v.hoistedLists()
	var names []string
	for _, r := range v.Program.Rules {
		if r.Kind == rule.DTypeIn && r.Var != "" && r.If != "" {
			out = append(out, set(codef("%q", r.Allowed[0]), variable(r.Var))...)
		}
		if r.Kind == rule.SizeBind && !v.Differs(r.Symbol) && (r.When != nil || v.IsList(r.Arg)) && !slices.Contains(names, r.Symbol) {
			names = append(names, r.Symbol)
			out = append(out, set(codef("0"), variable(r.Symbol))...)
		}
	}
	return out
}

// ruled are the statements of the rules; those on an optional input stand under the condition that it is given, those on
// dims that attributes choose under the condition on these.
func (v *checkView) ruled(print func(rule.Rule) []statement) (out []statement) {
	view.Guarded(v.Program.Rules, v.IsList, print, func(g view.Guard, body []statement) {
		if g.List != "" {
			body = v.overList(g.List, body)
		}
		if g.When != nil {
			body = block(codef("if %s:", v.expr(g.When)), body)
		}
		switch {
		case g.If == "":
		case v.InputIndex(g.If) >= 0:
			body = ifGiven(variable(g.If), body)
		default: // an attribute
			body = block(codef("if %s:", variable(g.If)), body)
		}
		out = append(out, body...)
	})
	return out
}

func (v *checkView) printer(name func(string) string) view.Printer {
	p := exprPrinter(name)
	p.Word = wordOf(v.Compiled)
	p.List = func(s string) string { return strings.TrimSuffix(name(s), "[e]") }
	return p
}

// symbol is what stands for a name in an expression.
func (v *checkView) symbol(name string) code {
	if from, isVar := v.Program.DTypeOf[name]; isVar && v.InputIndex(from) < 0 {
		dtype := v.dtype(opdef.Type{Var: name})
		dtype.text = "(" + dtype.text + ")"
		return dtype
	}
	if v.Differs(name) {
		return codef("%s[%s]", variable(name), number)
	}
	return variable(name)
}

// shown is the value of a name in a message: strings stand in quotes.
func (v *checkView) shown(name string) code {
	for _, a := range v.Attrs {
		if a.Name == name && a.Type == "str" {
			return codef("_r.quoted(%s)", variable(name))
		}
	}
	return v.symbol(name)
}
