package breaking

import (
	"reflect"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// inputs compares what stands in the call by its place, and may stand there by its name.
func (c *comparison) inputs(old, op *opdef.Op) {
	before, after := opdef.ArgNames(old.Inputs), opdef.ArgNames(op.Inputs)
	c.order("input", before, after)
	c.places(old, op)
	for _, in := range op.Inputs {
		if !slices.Contains(before, in.Name) {
			if in.Optional {
				c.breaks("the input %s is new: calls, and programs that JAX stored, may leave it out, but callers in C fail", in.Name)
			} else {
				c.breaks("the input %s is new, and required", in.Name)
			}
		}
	}
	for _, was := range old.Inputs {
		i := slices.Index(after, was.Name)
		if i < 0 {
			continue
		}
		is := op.Inputs[i]
		if was.Optional && !is.Optional {
			c.breaks("the input %s is required now", is.Name)
		}
		if looser(was.Stride) > looser(is.Stride) {
			c.breaks("the input %s has to be denser: stride was %q, and is %q", is.Name, was.Stride, is.Stride)
		}
		if was.Mutated != is.Mutated {
			c.breaks("the input %s is %s now", is.Name, map[bool]string{true: "overwritten", false: "not overwritten"}[is.Mutated])
		}
		if was.List != is.List {
			c.breaks("the input %s is %s now", is.Name, map[bool]string{true: "a list of arrays", false: "one array"}[is.List])
		}
		if c.before.shapes[was.Name] != c.after.shapes[is.Name] {
			c.reshaped("input", was, is)
		}
		if c.tighter(was.Min, is.Min, 1) || c.tighter(was.Max, is.Max, -1) || !was.Sorted && is.Sorted {
			c.breaks("the contents of the input %s have to keep to other limits", is.Name)
		}
		c.convention("input", was, is)
	}
}

// reshaped reports an argument whose shape means something else, also where it reads as before.
func (c *comparison) reshaped(what string, was, is opdef.Arg) {
	if was.Type.Text == is.Type.Text {
		c.breaks("the %s %s is %s as before, with another size", what, is.Name, is.Type.Text)
		return
	}
	c.breaks("the %s %s was %s, and is %s", what, is.Name, was.Type.Text, is.Type.Text)
}

// tighter says whether a limit of contents excludes what the old one did not: a minimum (sign 1) that grew, a maximum (sign -1) that
// shrank, or one that depends on the call in another way.
func (c *comparison) tighter(was, is *expr.Expr, sign int) bool {
	switch {
	case is == nil || c.before.text(was) == c.after.text(is):
		return false
	case was == nil:
		return true
	}
	a, err := was.EvalExact(nil)
	b, other := is.EvalExact(nil)
	return err != nil || other != nil || b.Cmp(a) == sign
}

// looser orders what a definition allows strides to be: from dense arrays, over dense rows, to any.
func looser(stride string) int { return slices.Index([]string{"", "last", "any"}, stride) }

// between compares arrays that no caller sees, but stored programs and callers in C pass.
func (c *comparison) between(what string, was, is []opdef.Arg) {
	types := func(args []opdef.Arg) (out []string) {
		for _, a := range args {
			out = append(out, a.Name+" "+a.Type.Text)
		}
		return out
	}
	if slices.Equal(opdef.ArgNames(was), opdef.ArgNames(is)) {
		return
	}
	fails := "stored programs and callers in C fail"
	if len(was) == 0 && len(is) > 0 && is[0].Saved {
		fails = "callers in C fail" // a stored program wants none
	}
	c.breaks("%s was %v, and is %v: %s", what, types(was), types(is), fails)
}

// savedOutputs are those for the gradient.
func savedOutputs(op *opdef.Op) []opdef.Arg {
	return slices.DeleteFunc(slices.Clone(op.Outputs), func(a opdef.Arg) bool { return !a.Saved })
}

// outputs compares the results. Saved ones are between an op and its gradient, and no caller sees them.
func (c *comparison) outputs(old, op *opdef.Op) {
	saved := func(a opdef.Arg) bool { return a.Saved }
	was, is := slices.DeleteFunc(slices.Clone(old.Outputs), saved), slices.DeleteFunc(slices.Clone(op.Outputs), saved)
	before, after := opdef.ArgNames(was), opdef.ArgNames(is)
	c.order("output", before, after)
	for _, name := range without(after, before) {
		c.breaks("the output %s is new: calls return one more", name)
	}
	for _, a := range was {
		i := slices.Index(after, a.Name)
		if i < 0 {
			continue
		}
		b := is[i]
		if c.before.shapes[a.Name] != c.after.shapes[b.Name] {
			c.reshaped("output", a, b)
		}
		if a.PresentIf != b.PresentIf {
			c.breaks("the output %s exists under another condition", b.Name)
		}
		if a.Per != b.Per || a.List != b.List {
			c.breaks("the output %s is another list", b.Name)
		}
		if a.Valid != b.Valid {
			c.breaks("other rows of the output %s mean something", b.Name)
		}
		c.convention("output", a, b)
	}
}

// convention compares what a log-sum-exp means, and packed numbers.
func (c *comparison) convention(what string, was, is opdef.Arg) {
	if was.Packs != is.Packs {
		c.breaks("the %s %s packs other numbers", what, is.Name)
	}
	if !reflect.DeepEqual(was.LSE, is.LSE) {
		c.breaks("the %s %s is a log-sum-exp of another convention", what, is.Name)
	}
}

// places compares the parameters that callers in Python give by their place, where a definition gives these an order.
func (c *comparison) places(old, op *opdef.Op) {
	positional := func(o *opdef.Op) (names []string) {
		for _, p := range o.Parameters() {
			if p.Positional {
				names = append(names, p.Name())
			}
		}
		return names
	}
	before, after := positional(old), positional(op)
	if len(old.Order)+len(op.Order) > 0 && !slices.Equal(before, after[:min(len(before), len(after))]) {
		c.breaks("callers in Python give other parameters by their place: %v, and %v", before, after)
	}
}

// order compares names that a call gives or gets by their places.
func (c *comparison) order(what string, before, after []string) {
	for _, name := range without(before, after) {
		c.breaks("the %s %s is gone", what, name)
	}
	var kept []string
	for _, name := range after {
		if slices.Contains(before, name) {
			kept = append(kept, name)
		}
	}
	here := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return !slices.Contains(after, name) })
	switch {
	case !slices.Equal(kept, here):
		c.breaks("the %ss have another order: %v, and %v", what, here, kept)
	case len(kept) > 0 && len(here) == len(before) && !slices.Equal(after[:len(before)], before):
		c.breaks("a new %s stands before old ones: %v", what, after)
	}
}
