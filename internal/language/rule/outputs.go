package rule

import "github.com/opcast/opcast/internal/language/opdef"

// outputs emits the sizes of all outputs, then which exist, then what each has to be, then what must not overlap.
func (p *Program) outputs() {
	p.sizes("output ", p.Op.Outputs)
	p.sizes("scratch ", p.Op.Scratch)
	p.presence()
	for i := range p.Op.Outputs {
		out := &p.Op.Outputs[i]
		p.add(Rule{Kind: Output, Arg: out.Name, Tensor: out, Other: p.DTypeOf[out.Type.Var]})
	}
	for i := range p.Op.Scratch {
		s := &p.Op.Scratch[i]
		p.add(Rule{Kind: Scratch, Arg: s.Name, Tensor: s, Other: p.DTypeOf[s.Type.Var]})
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

// sizes emits the rules on dims that arithmetic could make negative or too large.
func (p *Program) sizes(what string, args []opdef.Arg) {
	for i := range args {
		a := &args[i]
		for j, d := range a.Type.Dims {
			if d.Expr == nil || p.nonNegative(d.Expr) && hasValue(d.Expr) {
				continue
			}
			p.add(Rule{
				Kind: OutSize, Arg: a.Name, What: what + a.Name, If: a.PresentIf, Tensor: a, Expr: d.Expr, Form: d.Expr.Text, Dim: j,
				Huge: p.nonNegative(d.Expr),
			})
		}
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
