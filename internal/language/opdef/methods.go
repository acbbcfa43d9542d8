package opdef

import (
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// Lead is the name of the op's leading dims: "*" where they are the same in all inputs that have them, "..." where they are
// broadcast, "" where there are none. Those that each array of a list has for itself do not count.
func (o *Op) Lead() string {
	for _, in := range o.Inputs {
		if name := in.Type.Lead(); name != "" && !in.Own {
			return name
		}
	}
	return ""
}

// HasBatch says whether some argument has leading dims.
func (o *Op) HasBatch() bool { return o.Lead() != "" }

// Broadcasts says whether the leading dims of the inputs are broadcast together ("...").
func (o *Op) Broadcasts() bool { return o.Lead() == Broadcast }

// The names of leading dims.
const (
	Same      = "*"
	Broadcast = "..."
)

// IsLead says whether a dim's name stands for leading dims.
func IsLead(dim string) bool { return dim == Same || dim == Broadcast }

// Lead returns "*", "..." or "", the way in which the type's leading dims are open.
func (t Type) Lead() string {
	if len(t.Dims) > 0 && t.Dims[0].Leading() {
		return t.Dims[0].Text()
	}
	return ""
}

// TypeNamed is the type of a number whose dtype is the variable, or the dtype, of that name.
func (o *Op) TypeNamed(name string) Type {
	if slices.ContainsFunc(o.DTypes, func(d DTypeVar) bool { return d.Name == name }) {
		return Type{Var: name}
	}
	return Type{DType: name}
}

// InputIndex returns the index of the input with the given name, or -1.
func (o *Op) InputIndex(name string) int {
	return slices.IndexFunc(o.Inputs, func(a Arg) bool { return a.Name == name })
}

// Switch is the attribute that says whether a call has an output; nil where none does.
func (o *Op) Switch(out *Arg) *Attr {
	i := slices.IndexFunc(o.Attrs, func(a Attr) bool { return a.Name == out.PresentIf && a.Name != "" })
	if i < 0 {
		return nil
	}
	return &o.Attrs[i]
}

// Switches says whether an attribute decides about an output.
func (o *Op) Switches(a *Attr) bool {
	return slices.ContainsFunc(o.Outputs, func(out Arg) bool { return out.PresentIf == a.Name && a.Name != "" })
}

// Exists says whether a call has an argument, if it is not saved: an optional input that is given, or an output that does not depend on
// what is absent or false. The call gives some attributes by name.
func (o *Op) Exists(arg *Arg, given func(input string) bool, attrs map[string]any) bool {
	switch {
	case arg.PresentIf == "":
		return o.InputIndex(arg.Name) < 0 || given(arg.Name)
	case o.Switch(arg) == nil:
		return given(arg.PresentIf)
	}
	on, _ := o.AttrValue(attrs, arg.PresentIf).(bool)
	return on
}

// Results are what a call gives back, in order: the outputs that are not saved, then the mutated inputs.
func (o *Op) Results() []Arg {
	return append(o.Returned(), o.Mutated()...)
}

// Returned are the outputs that are not saved.
func (o *Op) Returned() []Arg {
	return slices.DeleteFunc(slices.Clone(o.Outputs), func(a Arg) bool { return a.Saved })
}

// Saved are the outputs that are computed only when a gradient is wanted; they stand after the others.
func (o *Op) Saved() []Arg {
	return slices.DeleteFunc(slices.Clone(o.Outputs), func(a Arg) bool { return !a.Saved })
}

// TakesOut says whether results can go to given arrays: not where the op itself says which arrays it overwrites, nor where they
// may be lists.
func (o *Op) TakesOut() bool { return len(o.Mutated()) == 0 && !o.HasLists() }

// Mutated are the inputs that the op overwrites.
func (o *Op) Mutated() []Arg {
	return slices.DeleteFunc(slices.Clone(o.Inputs), func(a Arg) bool { return !a.Mutated })
}

// Written are all arrays that the op writes: every output, then the mutated inputs.
func (o *Op) Written() []Arg { return append(slices.Clone(o.Outputs), o.Mutated()...) }

// ParallelDims are the dims along which slicing the inputs slices what the op writes: the leading ones where everything
// written has them, then the declared ones. What lacks a dim is a sum over it if it is also in Sums, else it does not depend on it.
func (o *Op) ParallelDims() []string {
	var dims []string
	if lead := o.Lead(); lead != "" && !slices.ContainsFunc(o.Written(), func(a Arg) bool { return !a.Has(lead) }) {
		dims = append(dims, lead)
	}
	return append(dims, slices.DeleteFunc(slices.Clone(o.Parallel), IsLead)...)
}

// SplitDims are the dimensions along which the op promises to be independent, or to sum up.
func (o *Op) SplitDims() []string {
	dims := o.ParallelDims()
	for _, d := range o.Sums {
		if !slices.Contains(dims, d) {
			dims = append(dims, d)
		}
	}
	return dims
}

// AttrNames lists the names of the attributes.
func (o *Op) AttrNames() []string {
	names := make([]string, len(o.Attrs))
	for i := range o.Attrs {
		names[i] = o.Attrs[i].Name
	}
	return names
}

// ArgNames lists the names of arguments.
func ArgNames(args []Arg) []string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.Name
	}
	return names
}

// Has says whether the argument has the dim for itself: not in arithmetic. "*" and "..." stand for leading dims.
func (a Arg) Has(dim string) bool {
	return slices.ContainsFunc(a.Type.Dims, func(d Dim) bool { return d.Is(dim) })
}

// Dims are the texts of the dims: "*", "N", "2*D".
func (a Arg) Dims() []string {
	out := make([]string, len(a.Type.Dims))
	for i, d := range a.Type.Dims {
		out[i] = d.Text()
	}
	return out
}

// Is says whether the dim is the named one and nothing else; "*" and "..." stand for leading dims.
func (d Dim) Is(name string) bool {
	return d.Leading() && d.Text() == name || d.Plain() && d.Expr.Name == name
}

// Leading says whether the dim stands for any number of leading ones.
func (d Dim) Leading() bool { return d.Star || d.Ellipsis }

// Plain says whether the dim is a size that stands alone.
func (d Dim) Plain() bool { return d.Expr != nil && d.Expr.Op == expr.OpSymbol }

// Text is the dim as the definition writes it.
func (d Dim) Text() string {
	switch {
	case d.Star:
		return "*"
	case d.Ellipsis:
		return "..."
	case d.Expr == nil:
		return ""
	}
	return d.Expr.Text
}

// MayBeNone says that None stands for the attribute where a call leaves it out: the backend computes it, or it has no
// value there.
func (a *Attr) MayBeNone() bool { return a.DefaultExpr != nil || a.Optional }

// AttrValue is what an attr is in a call that gives some by name: the given value, else the default, which is nil where
// the backend computes it.
func (o *Op) AttrValue(given map[string]any, name string) any {
	if v, ok := given[name]; ok {
		return v
	}
	for _, a := range o.Attrs {
		if a.Name == name {
			return a.Default
		}
	}
	return nil
}

// FloatValue is the value of a float attr in a call that gives some by name, and whether it has one; it may be given as an
// integer.
func (o *Op) FloatValue(given map[string]any, name string) (float64, bool) {
	i := slices.IndexFunc(o.Attrs, func(a Attr) bool { return a.Name == name && a.Type == "float" })
	if v := o.AttrValue(given, name); i >= 0 && v != nil {
		return NumberValue(v), true
	}
	return 0, false
}

// Decimals are the numbers that the attribute may be, as texts; none for any.
func (a *Attr) Decimals() (texts []string) {
	for _, n := range a.Among {
		texts = append(texts, strconv.FormatInt(n, 10))
	}
	return texts
}

// ConditionNames are the names that conditions, lets and the sizes of outputs and scratch mention.
func (o *Op) ConditionNames() []string {
	list := slices.Clone(o.Requires)
	for _, l := range o.Lets {
		list = append(list, l.Expr)
	}
	for _, a := range slices.Concat(o.Outputs, o.Scratch) {
		for _, d := range a.Type.Dims {
			if d.Expr != nil {
				list = append(list, d.Expr)
			}
		}
	}
	var names []string
	for _, e := range list {
		names = append(names, o.Needs(e)...)
	}
	return names
}

// IntValue is an attr's value in an integer expression: bools count as 0 and 1.
func IntValue(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// OpNames are the names of the ops, in their order.
func (p *Project) OpNames() []string {
	names := make([]string, len(p.Ops))
	for i, op := range p.Ops {
		names[i] = op.Name
	}
	return names
}

// FreeKind returns the smallest kind above all that are or were in use.
func (p *Project) FreeKind() int {
	used := slices.Clone(p.Manifest.Retired)
	for _, op := range p.Ops {
		used = append(used, op.Kind)
	}
	next := 0
	for _, kind := range used {
		if 0 <= kind && kind <= manifest.MaxKind {
			next = max(next, kind+1)
		}
	}
	return next
}

// Allowed are the short names of the dtypes that an argument may have.
func (o *Op) Allowed(a Arg) []string {
	for _, v := range o.DTypes {
		if v.Name == a.Type.Var {
			return v.OneOf
		}
	}
	return []string{a.Type.DType}
}

// NumberValue converts an int64 or a float64.
func NumberValue(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}
