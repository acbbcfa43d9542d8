package python

import (
	"github.com/opcast/opcast/internal/language/rule"
)

// batchRule prints the rules on leading dims.
func (v *checkView) batchRule(r rule.Rule) []statement {
	shape := shapeOf(r.Arg)
	own := codef("tuple(%s)", leading(shape, r.Rank))
	switch {
	case r.Kind == rule.BatchJoin:
		return set(v.join(r), batch)
	case r.Kind == rule.BatchBind && r.Own:
		return put(own, batches)
	case r.Kind == rule.BatchBind && v.IsList(r.Arg):
		return v.bindSharedBatch(r)
	case r.Kind == rule.BatchBind:
		return set(own, batch)
	}
	want, other := batch, codef("%q", v.FirstName(r.Other))
	if r.Own {
		want, other = codef("%s[%s]", batches, number), elementName(r.Other)
	}
	return raise(codef("%s != %s", own, want), "_r.batch(op, %s, %s, %s, %s)", v.label(r.Arg), want, other, shape)
}

// bindSize reads a size off a dim.
func (v *checkView) bindSize(r rule.Rule) []statement {
	shape := shapeOf(r.Arg)
	value := codef("%s[%d]", shape, r.Dim)
	if r.Form != r.Symbol {
		value = codef("_r.solve(op, %s, %s, %d, %s, %s, %q)", v.label(r.Arg), shape, r.Dim, v.expr(r.Coef), v.expr(r.Const), r.Form)
	}
	switch {
	case v.Differs(r.Symbol):
		return put(value, variable(r.Symbol))
	case v.IsList(r.Arg):
		return v.bindShared(r, value)
	}
	return set(value, variable(r.Symbol))
}

// join broadcasts the leading dims of an input with those of the inputs before.
func (v *checkView) join(r rule.Rule) code {
	var before []code
	for _, name := range r.Others {
		_, trailing := rule.Trailing(v.Inputs[v.InputIndex(name)].Type)
		before = append(before, codef("(%q, %s, %d)", name, variable(name), trailing))
	}
	shape := shapeOf(r.Arg)
	return codef("_r.join(fw, op, (%q, %s, %s), %s, %s)", r.Arg, shape, leading(shape, r.Rank), batch, tupleOf(before))
}
