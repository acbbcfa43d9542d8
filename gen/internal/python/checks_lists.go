package python

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// Arrays of a list are checked in a loop over their number e, in which xs_e is the array and n_[e] its size n.

// number is the variable of the loop, and batches the leading dims of each array, where they are its own.
var (
	number  = reading("e")
	batches = reading("batches")
)

// item is the variable that holds an argument where it is checked: of a list, that of one array.
func (v *checkView) item(arg string) code {
	if v.IsList(arg) {
		return reading(arg + "_e")
	}
	return variable(arg)
}

// label is the name of an argument in messages about it.
func (v *checkView) label(arg string) code {
	if v.IsList(arg) {
		return elementName(arg)
	}
	return codef("%q", arg)
}

// elementName is the name of the array of a list that the loop is at.
func elementName(list string) code {
	return code{`f"` + list + `[{e}]"`, number.reads}
}

// first is what holds an argument, of a list the first array: it decides for all.
func (v *checkView) first(arg string) code {
	if v.IsList(arg) {
		return codef("%s[0]", variable(arg))
	}
	return variable(arg)
}

// named is the pair of an argument's name and its value, or those of all arrays of a list.
func (v *checkView) named(a *opdef.Arg) code {
	if a.List {
		return codef("*_r.elements(%q, %s)", a.Name, variable(a.Name))
	}
	return codef("(%q, %s)", a.Name, variable(a.Name))
}

// lists checks that lists are lists, and have as many arrays as they should.
func (v *checkView) lists() []statement {
	var items []code
	for _, name := range v.Lists() {
		partner := v.Partner(name)
		if partner == name {
			partner = ""
		}
		items = append(items, codef("(%q, %s, %q)", name, variable(name), partner))
	}
	if len(items) == 0 {
		return nil
	}
	return do("_r.lists(fw.array, op, %s)", tupleOf(items))
}

// put stores what a rule finds out about one array of a list.
func put(value, list code) []statement {
	return []statement{{code: codef("%s[%s] = %s", list, number, value)}}
}

// bindShared takes a size that all arrays of a list have from the first, and compares those of the others.
func (v *checkView) bindShared(r rule.Rule, value code) []statement {
	want, shape := v.expr(r.Expr), shapeOf(r.Arg)
	differs := raise(codef("%s[%d] != %s", shape, r.Dim, want),
		"_r.size(op, %s, %s, %d, %s, %s)", v.label(r.Arg), shape, r.Dim, want, v.why(r.Why, true))
	out := block(codef("if %s == 0:", number), set(value, variable(r.Symbol)))
	return append(out, otherwise(differs)...)
}

// bindSharedBatch does the same for leading dims.
func (v *checkView) bindSharedBatch(r rule.Rule) []statement {
	shape := shapeOf(r.Arg)
	own := codef("tuple(%s)", leading(shape, r.Rank))
	differs := raise(codef("%s != %s", own, batch), "_r.batch(op, %s, %s, %q, %s)", v.label(r.Arg), batch, v.FirstName(r.Arg), shape)
	out := block(codef("if %s == 0:", number), set(own, batch))
	return append(out, otherwise(differs)...)
}

// hoistedLists are the variables that hold something for each array of a list.
func (v *checkView) hoistedLists() (out []statement) {
	var known []string
	for _, r := range v.Program.Rules {
		switch {
		case r.Kind == rule.DTypeIn && r.Var != "" && v.IsList(r.Arg):
			out = append(out, set(codef("fw.dtype(%s)", v.first(r.Arg)), variable(r.Var))...)
		case r.Kind == rule.SizeBind && v.Differs(r.Symbol) && !slices.Contains(known, r.Symbol):
			known = append(known, r.Symbol)
			out = append(out, set(codef("[0] * len(%s)", variable(r.Arg)), variable(r.Symbol))...)
		case r.Kind == rule.BatchBind && r.Own:
			out = append(out, do("%s: list[tuple[int, ...]] = [()] * len(%s)", batches, variable(r.Arg))...)
		case r.Kind == rule.BatchBind && v.IsList(r.Arg):
			out = append(out, set(codef("()"), batch)...)
		}
	}
	return out
}

// overList puts statements about the arrays of a list into a loop over these.
func (v *checkView) overList(list string, body []statement) []statement {
	if i := slices.IndexFunc(v.Outputs, func(a opdef.Arg) bool { return a.Name == list }); i >= 0 && len(body) > 0 {
		return block(codef("for e in range(len(%s)):", variable(v.Outputs[i].Per)), body)
	}
	read := map[string]bool{}
	noteReads(body, read)
	sets := slices.ContainsFunc(body, func(s statement) bool { return slices.Contains(s.targets, shapeOf(list).text) })
	if read[shapeOf(list).text] && !sets {
		body = append(set(codef("fw.shape(%s)", v.item(list)), shapeOf(list)), body...)
	}
	if len(body) == 0 {
		return nil
	}
	return block(codef("for e, %s in enumerate(%s):", v.item(list), variable(list)), body)
}

// listSpecs are the specs of an output that is a list.
func (v *checkView) listSpecs(out *opdef.Arg) code {
	var dims []code
	for _, d := range out.Type.Dims {
		switch {
		case d.Leading() && out.Own:
			dims = append(dims, codef("*%s[%s]", batches, number))
		case d.Leading():
			dims = append(dims, codef("*%s", batch))
		default:
			dims = append(dims, v.expr(d.Expr))
		}
	}
	return codef("*[(%s, %s) for e in range(len(%s))]", tupleOf(dims), v.dtype(out.Type), variable(out.Per))
}
