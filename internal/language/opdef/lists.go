package opdef

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// HasLists says whether some input is a list of arrays.
func (o *Op) HasLists() bool { return len(o.Lists()) > 0 }

// Lists are the inputs that are lists of arrays.
func (o *Op) Lists() []string {
	var out []string
	for _, in := range o.Inputs {
		if in.List {
			out = append(out, in.Name)
		}
	}
	return out
}

// IsList says whether a name is that of an input or output that is a list of arrays.
func (o *Op) IsList(name string) bool {
	is := func(a Arg) bool { return a.Name == name && a.List }
	return slices.ContainsFunc(o.Inputs, is) || slices.ContainsFunc(o.Outputs, is)
}

// FirstName is how messages call an argument; of a list, its first array.
func (o *Op) FirstName(name string) string {
	if o.IsList(name) {
		return ElementName(name, 0)
	}
	return name
}

// Differs says whether a size differs from one array of a list to the next.
func (o *Op) Differs(size string) bool { return slices.Contains(o.PerElement, size) }

// ListOf is the list whose arrays tell a size that differs from one to the next; "" for other sizes.
func (o *Op) ListOf(size string) string {
	if o.Differs(size) {
		for _, s := range o.Steps {
			if s.Kind == BindSize && s.Symbol == size {
				return o.Inputs[s.Input].Name
			}
		}
	}
	return ""
}

// Partner is the first of the lists that have as many arrays as a list has to have, since its arrays have sizes in common
// with theirs; a list that shares none is its own.
func (o *Op) Partner(list string) string {
	group := []string{list}
	for before := 0; before != len(group); {
		before = len(group)
		for _, in := range o.Inputs {
			if in.List && !slices.Contains(group, in.Name) && slices.ContainsFunc(group, func(name string) bool {
				return o.zipped(&in, &o.Inputs[o.InputIndex(name)])
			}) {
				group = append(group, in.Name)
			}
		}
	}
	for _, in := range o.Inputs {
		if slices.Contains(group, in.Name) {
			return in.Name
		}
	}
	return list
}

// zipped says whether two lists share a size that differs from one array to the next.
func (o *Op) zipped(a, b *Arg) bool {
	if a.Own && b.Own {
		return true
	}
	sizes := o.ownSizes(b)
	return slices.ContainsFunc(o.ownSizes(a), func(name string) bool { return slices.Contains(sizes, name) })
}

// ownSizes are the sizes of a list that differ from one array to the next.
func (o *Op) ownSizes(a *Arg) []string {
	var out []string
	for _, d := range a.Type.Dims {
		if d.Expr != nil {
			out = append(out, slices.DeleteFunc(d.Expr.Numbers(), func(name string) bool { return !o.Differs(name) })...)
		}
	}
	return out
}

// ElementName is how array number i of a list is called in messages and in instances: "xs[1]".
func ElementName(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// Unindexed is a name without the number of the array that it is about: "xs" for "xs[1]".
func Unindexed(name string) string {
	before, _, _ := strings.Cut(name, "[")
	return before
}

// Instance is the op as calls with so many arrays per list see it: an op without lists, whose inputs and outputs are the
// arrays one by one. Sizes that differ from one array to the next become sizes of their own: n becomes n[0], n[1]. Lists of
// one length share the number of the first of them, and those that length does not mention have one array.
func (o *Op) Instance(length func(list string) int) *Op {
	u := &unroller{of: o, lengths: map[string]int{}}
	for _, list := range o.Lists() {
		u.lengths[list] = max(1, length(o.Partner(list)))
	}
	return u.unroll()
}

// Whole is the op of which this one is an instance; an op that is none is its own.
func (o *Op) Whole() *Op {
	if o.InstanceOf != nil {
		return o.InstanceOf
	}
	return o
}

type unroller struct {
	of      *Op
	lengths map[string]int
	// first is the number of the first array of each input among those of the instance.
	first []int
}

func (u *unroller) unroll() *Op {
	out := *u.of
	out.InstanceOf, out.PerElement = u.of, nil
	out.Inputs, out.Outputs, out.Steps, out.Samples = nil, nil, nil, maps.Clone(u.of.Samples)
	for _, in := range u.of.Inputs {
		u.first = append(u.first, len(out.Inputs))
		out.Inputs = append(out.Inputs, u.elements(in, in.Name)...)
	}
	for _, a := range u.of.Outputs {
		out.Outputs = append(out.Outputs, u.elements(a, a.Per)...)
	}
	for rest := u.of.Steps; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Input == rest[0].Input {
			n++
		}
		out.Steps = append(out.Steps, u.steps(rest[:n])...)
		rest = rest[n:]
	}
	for _, name := range u.of.PerElement {
		for i := range u.lengths[u.of.ListOf(name)] {
			out.Samples[ElementName(name, i)] = u.of.Samples[name]
		}
		delete(out.Samples, name)
	}
	return &out
}

// elements are the arrays of an argument, which is a list as long as the input count.
func (u *unroller) elements(a Arg, count string) []Arg {
	if !a.List {
		return []Arg{a}
	}
	var out []Arg
	for i := range u.lengths[count] {
		e := a
		e.Name, e.In, e.At, e.List, e.Per = ElementName(a.Name, i), a.Name, i, false, ""
		e.Min, e.Max = u.expr(a.Min, i), u.expr(a.Max, i)
		e.Type.Dims = slices.Clone(a.Type.Dims)
		for j := range e.Type.Dims {
			e.Type.Dims[j].Expr = u.expr(a.Type.Dims[j].Expr, i)
		}
		out = append(out, e)
	}
	return out
}

// steps are what steps on one input are for each of its arrays, one after the other.
func (u *unroller) steps(of []Step) (out []Step) {
	in := &u.of.Inputs[of[0].Input]
	for i := range u.elements(*in, in.Name) {
		for _, s := range of {
			s.Input = u.first[s.Input] + i
			s.Coef, s.Const, s.Expr = u.expr(s.Coef, i), u.expr(s.Const, i), u.expr(s.Expr, i)
			switch {
			case in.List && s.Kind == BindSize && u.of.Differs(s.Symbol):
				s.Symbol = ElementName(s.Symbol, i)
			case i > 0 && s.Kind == BindSize: // all arrays have the size of the first
				s.Kind = CheckSize
			case i > 0 && s.Kind == BindBatch && !in.Own:
				s.Kind = CheckBatch
			}
			out = append(out, s)
		}
	}
	return out
}

// expr is an expression for array number i of a list.
func (u *unroller) expr(e *expr.Expr, i int) *expr.Expr {
	if e == nil {
		return nil
	}
	out := *e
	if e.Op == expr.OpSymbol && u.of.Differs(e.Name) {
		out.Name = ElementName(e.Name, i)
		out.Text = out.Name
	}
	out.Args = make([]*expr.Expr, len(e.Args))
	for k, arg := range e.Args {
		out.Args[k] = u.expr(arg, i)
	}
	return &out
}

// Needs are the sizes, attributes and dtype variables whose values an expression needs, each once. In an instance, sum(n)
// needs the sizes of all arrays, and the length of a list is a constant.
func (o *Op) Needs(e *expr.Expr) []string {
	whole := o.Whole()
	var out []string
	for _, name := range e.Symbols() {
		list := whole.ListOf(name)
		switch {
		case o == whole || list == "" && !slices.Contains(whole.Lists(), name):
			out = append(out, name)
		case list != "":
			for _, in := range o.Inputs {
				if in.In == list {
					out = append(out, ElementName(name, in.At))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Depends are the names that decide an expression: those that it needs, and in the place of each let those that this needs.
func (o *Op) Depends(e *expr.Expr) []string {
	var out []string
	for _, name := range o.Needs(e) {
		i := slices.IndexFunc(o.Lets, func(l Let) bool { return l.Name == name })
		if i < 0 {
			out = append(out, name)
		} else {
			out = append(out, o.Depends(o.Lets[i].Expr)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Elements are the values of a size for all arrays of a list, by a function that knows that of each; false for other names.
func (o *Op) Elements(size string, value func(name string) (int64, bool)) ([]int64, bool) {
	whole := o.Whole()
	if !whole.Differs(size) && !slices.Contains(whole.Lists(), size) {
		return nil, false
	}
	out := []int64{}
	for _, in := range o.Inputs {
		if in.In == "" || in.In != size && in.In != whole.ListOf(size) {
			continue
		}
		n, known := value(ElementName(size, in.At))
		if !known && in.In != size {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}
