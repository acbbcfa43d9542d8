package breaking

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
)

// attrs compares what stands in the call by its name, and by its place where a program in C calls.
func (c *comparison) attrs(old, op *opdef.Op) {
	before, after := old.AttrNames(), op.AttrNames()
	if was, is := without(before, without(before, after)), without(after, without(after, before)); !slices.Equal(was, is) {
		c.breaks("the attributes have another order: %v, and %v; callers in C pass them by their places", was, is)
	}
	for _, was := range old.Attrs {
		i := slices.IndexFunc(op.Attrs, func(a opdef.Attr) bool { return a.Name == was.Name })
		if i < 0 {
			c.breaks("the attribute %s is gone", was.Name)
			continue
		}
		c.attr(was, op.Attrs[i])
	}
	for _, is := range op.Attrs {
		if slices.ContainsFunc(old.Attrs, func(a opdef.Attr) bool { return a.Name == is.Name }) {
			continue
		}
		if is.HasDefault {
			c.breaks("the attribute %s is new: calls, and programs that JAX stored, get its default, but callers in C fail", is.Name)
		} else {
			c.breaks("the attribute %s is new, and required", is.Name)
		}
	}
}

func (c *comparison) attr(was, is opdef.Attr) {
	if was.Type != is.Type {
		c.breaks("the attribute %s was of type %s, and is of type %s", is.Name, was.Type, is.Type)
		return
	}
	switch {
	case was.HasDefault && !is.HasDefault:
		c.breaks("the attribute %s has no default any more", is.Name)
	case was.HasDefault && standard(was, c.before) != standard(is, c.after):
		c.breaks("the default of the attribute %s was %s, and is %s", is.Name, standard(was, nil), standard(is, nil))
	case was.Optional && !is.Optional:
		c.breaks("the attribute %s cannot be left empty any more", is.Name)
	}
	c.attrNumbers(was, is)
	if len(was.OneOf) == 0 && len(is.OneOf) > 0 {
		c.breaks("the attribute %s has to be one of %s", is.Name, diag.OneOf(is.OneOf))
	} else if len(is.OneOf) > 0 {
		for _, word := range without(was.OneOf, is.OneOf) {
			c.breaks("the attribute %s cannot be %q any more", is.Name, word)
		}
	}
	if (was.Binds == "") != (is.Binds == "") || c.before.names[was.Binds] != c.after.names[is.Binds] {
		c.breaks("the attribute %s chooses another dtype", is.Name)
	}
}

// attrNumbers compares the numbers that an attribute may be.
func (c *comparison) attrNumbers(was, is opdef.Attr) {
	before := was.Among
	if low, high, few := shortRange(was); few && len(is.Among) > 0 {
		for n := low; n <= high; n++ {
			before = append(before, n)
		}
	}
	if len(is.Among) > 0 && len(before) == 0 {
		c.breaks("the attribute %s has to be one of %s", is.Name, diag.OneOf(is.Decimals()))
		return
	}
	for _, n := range before {
		listed := len(is.Among) == 0 || slices.Contains(is.Among, n)
		if !listed || narrower(n, is.Min, 1) || narrower(n, is.Max, -1) {
			c.breaks("the attribute %s cannot be %d any more", is.Name, n)
		}
	}
	if len(before) == 0 && narrower(was.Min, is.Min, 1) {
		c.breaks("the attribute %s has to be at least %v", is.Name, is.Min)
	}
	if len(before) == 0 && narrower(was.Max, is.Max, -1) {
		c.breaks("the attribute %s has to be at most %v", is.Name, is.Max)
	}
}

// shortRange is the range of an integer attribute, if a list can hold it.
func shortRange(a opdef.Attr) (low, high int64, few bool) {
	low, hasLow := a.Min.(int64)
	high, hasHigh := a.Max.(int64)
	return low, high, a.Type == "int" && hasLow && hasHigh && uint64(high)-uint64(low) < 16
}

// standard is what a call means that leaves an attribute out: as the author wrote it, or with the names of sizes, if there are any.
func standard(a opdef.Attr, s *sizes) string {
	switch {
	case a.DefaultExpr != nil && s == nil:
		return a.DefaultExpr.Text
	case a.DefaultExpr != nil:
		return s.text(a.DefaultExpr)
	case a.Optional && a.Default == nil:
		return "nothing"
	case s == nil:
		return fmt.Sprint(a.Default)
	}
	if v, ok := a.Default.(string); ok && a.Binds != "" { // a dtype variable, or a dtype
		return fmt.Sprintf("%q", cmp.Or(s.names[v], v))
	}
	return fmt.Sprintf("%#v", a.Default)
}

// narrower says whether a bound excludes what it did not: a minimum (sign 1) that grew, a maximum (sign -1) that shrank.
func narrower(was, is any, sign int) bool {
	return is != nil && (was == nil || exact(is).Cmp(exact(was)) == sign)
}

// exact is a bound of an attribute with all of its digits.
func exact(bound any) *big.Rat {
	if i, ok := bound.(int64); ok {
		return new(big.Rat).SetInt64(i)
	}
	return new(big.Rat).SetFloat64(opdef.NumberValue(bound))
}
