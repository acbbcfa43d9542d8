package rule

// outputs emits the sizes of all outputs, then which exist, then what each has to be, then what must not overlap.
func (p *Program) outputs() {
	for i := range p.Op.Outputs {
		out := &p.Op.Outputs[i]
		for j, d := range out.Type.Dims {
			if d.Expr != nil && !p.nonNegative(d.Expr) {
				p.add(Rule{Kind: OutSize, Arg: out.Name, If: out.PresentIf, Tensor: out, Expr: d.Expr, Form: d.Expr.Text, Dim: j})
			}
		}
	}
	p.presence()
	for i := range p.Op.Outputs {
		out := &p.Op.Outputs[i]
		p.add(Rule{Kind: Output, Arg: out.Name, Tensor: out, Other: p.DTypeOf[out.Type.Var]})
	}
	for _, in := range p.Op.Mutated() {
		r := Rule{Kind: Apart, Arg: in.Name, Optional: in.Optional}
		for _, other := range p.Op.Inputs {
			if other.Name != in.Name {
				r.Others = append(r.Others, other.Name)
			}
		}
		p.add(r)
	}
}

// presence emits which outputs depend on something: on an optional input, or all saved ones on each other.
func (p *Program) presence() {
	saved := ""
	for i := range p.Op.Outputs {
		out := &p.Op.Outputs[i]
		r := Rule{Kind: Presence, Arg: out.Name, Tensor: out, Other: out.PresentIf}
		if out.Saved {
			r.Other = saved
		}
		if r.Other != "" {
			p.add(r)
		}
		if out.Saved && saved == "" {
			saved = out.Name
		}
	}
}
