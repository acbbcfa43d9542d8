package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

func (c *checker) attrs() {
	c.op.Attrs = make([]opdef.Attr, len(c.raw.Attrs))
	for i, raw := range c.raw.Attrs {
		path, a := tomldoc.Element("attrs", i), &c.op.Attrs[i]
		*a = opdef.Attr{Name: raw.Name, Doc: raw.Doc, Type: raw.Type, Binds: raw.Binds, Optional: raw.Optional}
		c.needDoc(path, "attribute "+raw.Name, raw.Doc)
		if c.need(path, "name") {
			c.declare(raw.Name, entity{kind: kindAttr, path: path, attr: a}, c.doc.At(tomldoc.Join(path, "name")))
		}
		if c.need(path, "type") && c.attrType(a, path) {
			a.Min, a.Max = c.bound(a, path, "min", raw.Min), c.bound(a, path, "max", raw.Max)
			if a.Min != nil && a.Max != nil && opdef.NumberValue(a.Min) > opdef.NumberValue(a.Max) {
				c.report(tomldoc.Join(path, "min"), code.MinMax, "", "%s: min %v is greater than max %v", a.Name, raw.Min, raw.Max)
			}
			c.oneOf(a, path, raw.OneOf)
			c.attrDefault(a, path, raw.Default)
		}
	}
}

// attrType checks the type and sets Len.
func (c *checker) attrType(a *opdef.Attr, path string) bool {
	if m := raw.IntListPattern.FindStringSubmatch(a.Type); m != nil {
		a.Len = -1
		if m[1] != "" {
			a.Len, _ = strconv.Atoi(m[1])
		}
		return true
	}
	if slices.Contains(raw.AttrTypes, a.Type) && a.Type != "int[N]" {
		return true
	}
	c.report(tomldoc.Join(path, "type"), code.AttrType, diag.DidYouMean(a.Type, raw.AttrTypes, "types are "+diag.OneOf(raw.AttrTypes)), "unknown attribute type %q", a.Type)
	c.open = true
	return false
}

// bound converts min or max.
func (c *checker) bound(a *opdef.Attr, path, key string, value any) any {
	where := tomldoc.Join(path, key)
	if value == nil {
		return nil
	}
	isInt := a.Type == "int" || a.Len != 0
	switch v := value.(type) {
	case int64:
		if isInt {
			return v
		}
		if a.Type == "float" {
			return float64(v)
		}
	case float64:
		if a.Type == "float" && raw.Finite(v) {
			return v
		}
	}
	hint := "expected a finite number"
	if isInt {
		hint = "expected an integer"
	} else if a.Type != "float" {
		hint = "only int, int[N] and float attributes have a range"
	}
	c.report(where, code.MinMax, hint, "%s: %v does not fit %s attribute", key, value, diag.Indefinite(a.Type))
	return nil
}

// oneOf reads the allowed words or numbers.
func (c *checker) oneOf(a *opdef.Attr, path string, values []any) {
	where := tomldoc.Join(path, "one_of")
	switch {
	case !c.doc.Given(where):
		return
	case a.Type != "str" && a.Type != "int":
		c.report(where, code.OneOf, "only str and int attributes have a list of values", "one_of on %s attribute", diag.Indefinite(a.Type))
		return
	case len(values) == 0:
		c.report(where, code.OneOf, "", "one_of is empty")
	case a.Min != nil || a.Max != nil:
		c.report(where, code.OneOf, "leave min and max out", "%s has both a list of values and a range", a.Name)
	}
	for i, value := range values {
		at := tomldoc.Element(where, i)
		word, isWord := value.(string)
		number, isNumber := value.(int64)
		switch {
		case isWord && a.Type == "str":
			c.word(a, at, word)
		case !isNumber || a.Type != "int":
			c.report(at, code.OneOf, "", "%s is no value of %s attribute", tomldoc.Show(value), diag.Indefinite(a.Type))
		case slices.Contains(a.Among, number):
			c.report(at, code.OneOf, "", "%d is listed twice", number)
		default:
			a.Among = append(a.Among, number)
		}
	}
}

// word adds an allowed word. Words become C++ enumerators, hence their form.
func (c *checker) word(a *opdef.Attr, at, word string) {
	if !names.IsIdentifier(word) {
		c.report(at, code.OneOf, names.FormHint(word, "write letters and digits, joined by single underscores"), "%q is no name for a choice", word)
	} else if slices.Contains(a.OneOf, word) {
		c.report(at, code.OneOf, "", "%q is listed twice", word)
	} else if j := slices.IndexFunc(a.OneOf, func(w string) bool { return names.Pascal(w) == names.Pascal(word) }); j >= 0 {
		c.report(at, code.OneOf, "rename one of them", "in C++ %q is called k%s, as %q is", word, names.Pascal(word), a.OneOf[j])
	}
	a.OneOf = append(a.OneOf, word)
}

// attrDefault converts the default and holds it against the attribute's own range.
func (c *checker) attrDefault(a *opdef.Attr, path string, value any) {
	if a.Binds != "" && a.Type != "dtype" {
		c.report(tomldoc.Join(path, "binds"), code.Binds, `type = "dtype"`, "only a dtype attribute binds a dtype variable")
	}
	if a.Optional {
		a.HasDefault = true
		c.optionalAttr(a, path, value)
		return
	}
	if value == nil {
		return
	}
	where := tomldoc.Join(path, "default")
	a.HasDefault = true
	if text, ok := value.(string); ok && (a.Type == "int" || a.Type == "float") {
		e, err := expr.Parse(text)
		if err != nil {
			c.syntax(where, code.Expr, err)
			return
		}
		if len(a.Among) > 0 {
			c.report(where, code.Default, "give one of "+diag.OneOf(a.Decimals()), "default of %s cannot be computed, since it has a list of values", a.Name)
			return
		}
		a.DefaultExpr = e
		return
	}
	converted, ok := raw.Convert(a, value)
	if !ok {
		c.report(where, code.Default, absentHint(fmt.Sprint(value), ""), "default of %s attribute cannot be %s", diag.Indefinite(a.Type), tomldoc.Show(value))
		return
	}
	a.Default = converted
	if mistake := raw.Outside(a, converted); mistake != "" {
		c.report(where, code.Range, "", "default %s", mistake)
	}
}

// absentHint is the hint for a word that stands for no value in other languages.
func absentHint(word, otherwise string) string {
	if slices.Contains([]string{"none", "null", "nil", "nan"}, strings.ToLower(word)) {
		return "an argument that may be absent has optional = true, and no default"
	}
	return otherwise
}

// optionalAttr refuses what an attribute that may be absent cannot have.
func (c *checker) optionalAttr(a *opdef.Attr, path string, value any) {
	switch {
	case a.Type == "dtype":
		c.report(tomldoc.Join(path, "optional"), code.Default, "give it a default: a dtype, or a dtype variable", "a dtype attribute cannot be absent")
	case value != nil:
		c.report(tomldoc.Join(path, "default"), code.Default, "keep one of them", "%s is optional and has a default", a.Name)
	}
}
