package rule

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// carried emits the rules on outputs that tell dtypes which attributes choose, where inputs or conditions depend on them.
func (p *Program) carried() {
	conditions := slices.Concat(p.Op.Requires, p.Op.Fits())
	for _, v := range p.Op.DTypes {
		mentions := func(e *expr.Expr) bool { return slices.Contains(e.Symbols(), v.Name) }
		shares := func(a opdef.Arg) bool { return a.Type.Var == v.Name }
		if p.DTypeOf[v.Name] != "" && (slices.ContainsFunc(conditions, mentions) || slices.ContainsFunc(p.Op.Inputs, shares)) {
			p.add(Rule{Kind: Carried, Arg: Carrier(p.Op, v.Name).Name, Var: v.Name, Allowed: p.choices(v.Name)})
		}
	}
}

// require emits a condition on the whole call.
func (p *Program) require(e *expr.Expr, huge bool) {
	why := p.Why(e)
	for i := range why {
		why[i].Of = ""
	}
	p.add(Rule{Kind: Require, Expr: e, Form: e.Text, Why: why, Hint: p.castHint(e), Huge: huge})
}

// castHint says what to do about dtypes that a condition refuses: "cast x", or "" for a condition on sizes and attributes.
func (p *Program) castHint(e *expr.Expr) string {
	var casts, attrs []string
	for _, s := range e.Symbols() {
		switch from := p.DTypeOf[s]; {
		case from == "":
		case p.Op.OptionalDType(s) != "":
			casts = append(casts, from+" (or give it)")
		case p.Op.InputIndex(from) >= 0:
			casts = append(casts, from)
		default:
			attrs = append(attrs, from)
		}
	}
	var hints []string
	if len(casts) > 0 {
		hints = append(hints, "cast "+Or(casts))
	}
	if len(attrs) > 0 {
		hints = append(hints, "give another "+Or(attrs))
	}
	return strings.Join(hints, " or ")
}

// Why lists the symbols of e with the arguments that bind them.
func (p *Program) Why(e *expr.Expr) []Origin {
	var out []Origin
	for _, s := range e.Symbols() {
		of := p.Origin[s]
		if list := p.Op.Whole().ListOf(s); list != "" {
			first := s
			if p.Op.InstanceOf != nil {
				first = opdef.ElementName(s, 0)
			}
			if of = ""; p.Origin[first] != "" {
				of = list
			}
		}
		out = append(out, Origin{Name: s, Of: of})
	}
	return out
}
