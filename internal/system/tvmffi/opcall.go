package tvmffi

// OpCall is a call of any op by its number. Trailing optional arrays may be left out, absent ones are nil.
type OpCall struct {
	Kind                     int64
	Inputs, Outputs, Scratch []*Tensor
	Attrs                    []Attr
}

// Attr is a keyword argument: its name, and a value as Call takes it.
type Attr struct {
	Name  string
	Value any
}

// OpCall calls an op through the library's registry: attrs that are missing have their defaults.
func (l *Library) OpCall(c OpCall) error {
	args := []any{c.Kind, len(c.Inputs), len(c.Outputs), len(c.Scratch)}
	for _, list := range [][]*Tensor{c.Inputs, c.Outputs, c.Scratch} {
		for _, t := range list {
			args = append(args, t)
		}
	}
	for _, a := range c.Attrs {
		args = append(args, a.Name, a.Value)
	}
	_, err := l.Call("_opcast_op_call", args...)
	return err
}
