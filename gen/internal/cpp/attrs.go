package cpp

import (
	"fmt"
	"strings"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

func (v *opView) readAttr(a *opdef.Attr) []string {
	if a.Binds != "" { // a dtype attr: the output carries it
		return nil
	}
	name, i := variable(a.Name), v.Place(a.Name)
	switch {
	case a.Optional:
		return v.readOptional(a, name, i)
	case len(a.OneOf) > 0:
		return one("const auto %s = %s;", name, v.value(a, i))
	case a.Len > 0:
		return one("std::array<int64_t, %d> %s; call.Ints(%s, %q, %d, %s.data());", a.Len, name, i, a.Name, a.Len, name)
	case a.Len < 0:
		return one("const std::vector<int64_t> %s = call.AnyInts(%s, %q);", name, i, a.Name)
	case a.DefaultExpr != nil:
		return one("auto %s = call.Given(%s) ? call.%s(%s, %q) : 0;", name, i, view.Pascal(a.Type), i, a.Name)
	}
	return one("const auto %s = %s;", name, v.value(a, i))
}

// value reads an attribute that is no list.
func (v *opView) value(a *opdef.Attr, i string) string {
	if len(a.OneOf) > 0 {
		return fmt.Sprintf("static_cast<%s>(call.Choice(%s, %q, {%s}))", v.attrType(a), i, a.Name, `"`+strings.Join(a.OneOf, `", "`)+`"`)
	}
	return fmt.Sprintf("call.%s(%s, %q)", view.Pascal(a.Type), i, a.Name)
}

// readOptional reads an attribute that may be absent.
func (v *opView) readOptional(a *opdef.Attr, name string, i string) []string {
	read := fmt.Sprintf("%s = %s", name, v.value(a, i))
	kind := v.attrType(a)
	switch {
	case a.Len > 0:
		read = fmt.Sprintf("call.Ints(%s, %q, %d, %s.emplace().data())", i, a.Name, a.Len, name)
	case a.Len < 0:
		kind, read = "std::vector<int64_t>", fmt.Sprintf("%s = call.AnyInts(%s, %q)", name, i, a.Name)
	}
	return one("std::optional<%s> %s; if (call.Given(%s)) %s;", kind, name, i, read)
}

func (v *opView) attrBound(r rule.Rule, check string) []string {
	name, a, bound := variable(r.Arg), r.Attr, numeral(r.Bound)
	given := fmt.Sprintf("if (call.Given(%s)) ", v.Place(a.Name))
	if a.Optional {
		name = "*" + name
	}
	call := fmt.Sprintf("call.%s(%q, %s, %s, %q);", check, a.Name, name, view.Decimal(r.Bound), r.Bound)
	if a.Type != "float" {
		call = fmt.Sprintf("call.%s(%q, %s, %s);", check, a.Name, name, bound)
	}
	if a.Len != 0 {
		call = fmt.Sprintf("for (int64_t i : %s) call.%s(%q, i, %s);", name, check, a.Name, bound)
	}
	if a.MayBeNone() {
		call = given + call
	}
	return []string{call}
}

// among is the check that a number is one of those that the definition lists; words are checked where they are read.
func (v *opView) among(r rule.Rule) []string {
	if len(r.Attr.Among) == 0 {
		return nil
	}
	name, given := variable(r.Arg), ""
	if r.Attr.Optional {
		name = "*" + name
	}
	if r.Attr.MayBeNone() {
		given = fmt.Sprintf("if (call.Given(%s)) ", v.Place(r.Arg))
	}
	var numerals []string
	for _, text := range r.Allowed {
		numerals = append(numerals, numeral(text))
	}
	return one("%scall.Among(%q, %s, {%s});", given, r.Arg, name, strings.Join(numerals, ", "))
}

// LateDefaults computes the absent attrs whose default is an expression, once sizes are known.
func (v *opView) LateDefaults() []string {
	var out []string
	for _, a := range v.ABIAttrs() {
		if a.DefaultExpr != nil {
			print := v.printer
			if a.Type == "float" {
				print = v.realPrinter
			}
			out = append(out, fmt.Sprintf("if (!call.Given(%s)) call.Default(%s, %s = %s);", v.Place(a.Name), v.Place(a.Name), variable(a.Name), print(v.variable).Print(a.DefaultExpr)))
		}
	}
	return out
}
