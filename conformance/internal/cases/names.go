package cases

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Int makes a case the environment of expressions: sizes, lets, int and bool attrs.
func (c *Case) Int(name string) (int64, bool) {
	if v, ok := c.Sizes[name]; ok {
		return v, true
	}
	for _, l := range c.Op.Lets {
		if l.Name == name {
			v, err := l.Expr.Eval(c)
			return v, err == nil
		}
	}
	return opdef.IntValue(c.Attr(name))
}

// List returns an int list attr, or what a size is for each array of a list.
func (c *Case) List(name string) ([]int64, bool) {
	if list, isSize := c.Op.Elements(name, c.Int); isSize {
		return list, true
	}
	v, ok := c.Attr(name).([]int64)
	return v, ok
}

// Float returns the value of a float attr.
func (c *Case) Float(name string) (float64, bool) { return c.Op.FloatValue(c.Attrs, name) }

// Word returns the value of a str attr, or the short name of the dtype of a variable.
func (c *Case) Word(name string) (string, bool) {
	if short, isVar := c.DTypes[name]; isVar {
		return short, true
	}
	v, ok := c.Attr(name).(string)
	return v, ok
}

// Attr is the value that an attr takes in the call; nil where the backend computes it.
func (c *Case) Attr(name string) any { return c.Op.AttrValue(c.Attrs, name) }

// DTypeNames are the dtypes of the variables of a definition, or else of the first input of floating point, by their short names:
// the column of tables that names the dtype of a call.
func (c *Case) DTypeNames() string {
	var list []string
	for _, v := range c.Op.DTypes {
		if short := c.DTypes[v.Name]; !slices.Contains(list, short) {
			list = append(list, short)
		}
	}
	for i := range c.Op.Inputs {
		if d := c.DType(c.Op.Inputs[i].Type); len(list) == 0 && d.Inexact() {
			list = append(list, d.Short)
		}
	}
	if len(list) == 0 {
		list = append(list, c.DType(c.Op.Inputs[0].Type).Short)
	}
	return strings.Join(list, " ")
}
