package conformance

import (
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
)

// checkAutocast narrows each of the inputs that share a dtype variable.
func checkAutocast(t *T) error {
	done := false
	for _, d := range combinations(t.Op, t.env.device) {
		for _, v := range t.Op.DTypes {
			if d[v.Name] != "f32" || !slices.Contains(v.OneOf, "bf16") {
				continue
			}
			done = true
			t.Row("", d.String())
			if err := proceed(t.mixed(d, v.Name)); err != nil {
				return err
			}
		}
	}
	return unless(done, "no dtype variable may be float32 and bfloat16")
}

// mixed gives each input of a dtype variable a narrow dtype, one at a time, and expects the bits of the widened call.
// Where no two inputs share the variable, nothing may be cast.
func (t *T) mixed(d dtypes, variable string) error {
	c, err := t.newCase(base(d))
	if err != nil {
		return err
	}
	var sharing []int
	for i, in := range t.Op.Inputs {
		if in.Type.Var == variable {
			sharing = append(sharing, i)
		}
	}
	if len(sharing) < 2 {
		p, err := t.prepare(c, true, "autocast")
		if err != nil {
			return err
		}
		return t.autocast(c, p)
	}
	for _, i := range sharing {
		if t.Op.Inputs[i].Mutated {
			continue // a copy would be overwritten in its place
		}
		if err := proceed(t.narrowed(c, i)); err != nil {
			return err
		}
	}
	return nil
}

// narrowed gives one input bfloat16.
func (t *T) narrowed(c *Case, i int) error {
	narrow, wide := *c, *c
	narrow.Inputs, wide.Inputs = slices.Clone(c.Inputs), slices.Clone(c.Inputs)
	narrow.Inputs[i] = ndarray.FromFloats(lookup("bf16"), c.Inputs[i].Shape, c.Inputs[i].Floats())
	wide.Inputs[i] = ndarray.FromFloats(c.Inputs[i].DType, c.Inputs[i].Shape, narrow.Inputs[i].Floats())
	narrow.Name += ", " + t.Op.Inputs[i].Name + " narrow"
	p, err := t.prepare(&wide, true, "autocast")
	if err != nil {
		return err
	}
	p.arguments.inputs = given(&narrow)
	for k, place := range p.wrt {
		if present(c)[place] == i {
			p.gradients[k] = ndarray.FromFloats(lookup("bf16"), p.gradients[k].Shape, p.gradients[k].Floats())
		}
	}
	return t.autocast(&narrow, p)
}

func (t *T) autocast(c *Case, p *prepared) error {
	r, err := t.transform(c.Name, request("autocast", map[string]any{"dtype": "bfloat16"}, p))
	if err != nil {
		return err
	}
	t.gave(c.Name, r, 0, p.want())
	return nil
}
