package load

import (
	"cmp"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// params reads what a kernel can be tuned by, in the order of the file.
func (c *checker) params(path string, raw map[string][]int) []opdef.Param {
	var list []opdef.Param
	choices := 1
	for _, name := range keys(raw) {
		p := opdef.Param{Name: name}
		for _, value := range raw[name] {
			p.Values = append(p.Values, int64(value))
		}
		list = append(list, p)
		c.param(tomldoc.Join(path, name), p)
		choices = min(choices, opdef.MaxChoices) * len(p.Values)
	}
	if choices > opdef.MaxChoices {
		c.diags.Add(c.doc.KeyAt(path), code.Params, "the suite tries each: leave out values that never win",
			"params have more than %d choices", opdef.MaxChoices)
	}
	slices.SortStableFunc(list, func(a, b opdef.Param) int {
		p, q := c.doc.KeyAt(tomldoc.Join(path, a.Name)), c.doc.KeyAt(tomldoc.Join(path, b.Name))
		return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
	})
	return list
}

// param checks one of them: it becomes a member of a struct.
func (c *checker) param(path string, p opdef.Param) {
	why := names.WhyReserved(p.Name)
	switch {
	case !names.IsSnakeCase(p.Name) || len(p.Name) > names.MaxLength:
		c.diags.Add(c.doc.KeyAt(path), code.Params, "write lower-case words joined by single underscores", "%q is no name of a parameter", p.Name)
	case why != "":
		c.diags.Add(c.doc.KeyAt(path), code.Reserved, "choose another name", "%q is reserved: %s", p.Name, why)
	}
	if !c.doc.Given(path) {
		return
	}
	if len(p.Values) < 2 {
		c.report(path, code.Params, "a constant of the kernel needs no parameter", "%s: expected two values or more, got %d", p.Name, len(p.Values))
	}
	for i, value := range p.Values {
		if value == math.MinInt64 { // which no literal of C++ is
			c.report(tomldoc.Element(path, i), code.Params, "", "%s: expected a value above %d", p.Name, value)
		}
		if c.doc.Given(tomldoc.Element(path, i)) && slices.Contains(p.Values[:i], value) {
			c.report(tomldoc.Element(path, i), code.Params, "", "%s has the value %d twice", p.Name, value)
			return
		}
	}
}
