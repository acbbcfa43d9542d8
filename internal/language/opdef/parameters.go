package opdef

import "slices"

// Parameter is a parameter of an op's Python function: an input or an attribute.
type Parameter struct {
	Input *Arg
	Attr  *Attr
	// Positional says that it may be given by its place; others have to be named.
	Positional bool
	// Needed says that a call must give it: it has no default, or stands before one that has none.
	Needed bool
}

// Name is the parameter's name.
func (p *Parameter) Name() string {
	if p.Input != nil {
		return p.Input.Name
	}
	return p.Attr.Name
}

// Optional says whether the function can do without a value: one that is needed all the same may be None.
func (p *Parameter) Optional() bool {
	if p.Input != nil {
		return p.Input.Optional
	}
	return p.Attr.HasDefault
}

// ReferenceNames are what a reference is called with: inputs, attributes and lets.
func (o *Op) ReferenceNames() []string {
	names := slices.Concat(ArgNames(o.Inputs), o.AttrNames())
	for _, l := range o.Lets {
		names = append(names, l.Name)
	}
	return names
}

// Parameters are those of the op's function: by place the ones that Order lists, or else the inputs, then the other attributes.
func (o *Op) Parameters() []Parameter {
	var out, rest []Parameter
	for i := range o.Inputs {
		out = append(out, Parameter{Input: &o.Inputs[i], Positional: true})
	}
	for i := range o.Attrs {
		a := &o.Attrs[i]
		p := Parameter{Attr: a, Positional: slices.Contains(o.Order, a.Name), Needed: !a.HasDefault}
		if p.Positional {
			out = append(out, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(o.Order) > 0 {
		slices.SortStableFunc(out, func(a, b Parameter) int { return slices.Index(o.Order, a.Name()) - slices.Index(o.Order, b.Name()) })
	}
	needed := false
	for i := len(out) - 1; i >= 0; i-- {
		needed = needed || !out[i].Optional()
		out[i].Needed = needed
	}
	return append(out, rest...)
}
