package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Int and List make the evaluation the environment of expressions.
func (e *evaluation) Int(name string) (int64, bool) {
	if v, ok := e.sizes[name]; ok {
		return v, true
	}
	return opdef.IntValue(e.attr(name))
}

// List returns the value of an int list attr, or what a size is for each array of a list.
func (e *evaluation) List(name string) ([]int64, bool) {
	if list, isSize := e.program.Op.Elements(name, e.Int); isSize {
		return list, true
	}
	v, ok := e.attr(name).([]int64)
	return v, ok
}

// Float returns the value of a float attr, which may be given as an integer.
func (e *evaluation) Float(name string) (float64, bool) {
	return e.program.Op.FloatValue(e.call.Attrs, name)
}

// Word returns the value of a str attr, or the short name of the dtype of a variable.
func (e *evaluation) Word(name string) (string, bool) {
	if slices.ContainsFunc(e.program.Op.DTypes, func(d opdef.DTypeVar) bool { return d.Name == name }) {
		d, ok := dtype.LookupLong(e.dtypeOf(name))
		return d.Short, ok
	}
	v, ok := e.attr(name).(string)
	return v, ok
}

// dtypeOf is the long name of the dtype of a variable; a bare call tells one that an attr binds by an output.
func (e *evaluation) dtypeOf(variable string) string {
	if carrier := e.carrier(variable); carrier != nil {
		return e.call.Out[carrier.Name].DType
	}
	return e.outDType(opdef.Type{Var: variable})
}

func (e *evaluation) attr(name string) any { return e.program.Op.AttrValue(e.call.Attrs, name) }

func (e *evaluation) because(why []Origin) string {
	var parts []string
	for _, w := range why {
		s := opdef.Unindexed(w.Name) + " = " + e.shown(w.Name)
		if slices.Contains(e.program.Op.Whole().Lists(), w.Name) {
			list, _ := e.List(w.Name)
			s = fmt.Sprintf("len(%s) = %d", w.Name, len(list))
		}
		if w.Of != "" {
			s += " of " + w.Of
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// shown is the value of a name as Python writes it.
func (e *evaluation) shown(name string) string {
	if list, isList := e.List(name); isList {
		return List(list)
	}
	if v, isFloat := e.Float(name); isFloat {
		return Number(v)
	}
	if _, isVar := e.program.DTypeOf[name]; isVar {
		return e.dtypeOf(name)
	}
	switch v := e.attr(name).(type) {
	case string:
		return "'" + v + "'"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	}
	n, _ := e.Int(name)
	return fmt.Sprint(n)
}
