package transforms

import (
	"slices"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
)

var autocastCheck = check.Check{
	ID: "autocast", Group: check.GroupTransform,
	Doc:     "under autocast, inputs that share a dtype are cast to the widest",
	Through: check.ThroughAdaptors,
	Needs:   Offers("autocast", Transforms),
	Foreign: check.TransformsGenerated,
	Run:     checkAutocast,
}

// checkAutocast narrows each of the inputs that share a dtype variable.
func checkAutocast(t *check.T) error {
	done := false
	for _, d := range cases.SupportedDTypes(t.Op, t.Env.Device) {
		for _, v := range t.Op.DTypes {
			if d[v.Name] != "f32" || !slices.Contains(v.OneOf, "bf16") {
				continue
			}
			done = true
			t.StartRow("", d.String())
			if err := check.Proceed(autocastEachInput(t, d, v.Name)); err != nil {
				return err
			}
		}
	}
	return check.SkipUnless(done, "no dtype variable may be float32 and bfloat16")
}

// autocastEachInput gives each input of a dtype variable a narrow dtype, one at a time, and expects the bits of the
// widened call. Where no two inputs share the variable, nothing may be cast.
func autocastEachInput(t *check.T, d cases.DTypes, variable string) error {
	c, err := t.NewCase(cases.BasePlan(d))
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
		p, err := Prepare(t, c, true, "autocast")
		if err != nil {
			return err
		}
		return autocast(t, c, p)
	}
	for _, i := range sharing {
		if t.Op.Inputs[i].Mutated {
			continue // a copy would be overwritten in its place
		}
		if err := check.Proceed(narrowInput(t, c, i)); err != nil {
			return err
		}
	}
	return nil
}

// narrowInput gives one input bfloat16.
func narrowInput(t *check.T, c *cases.Case, i int) error {
	narrow, wide := *c, *c
	narrow.Inputs, wide.Inputs = slices.Clone(c.Inputs), slices.Clone(c.Inputs)
	narrow.Inputs[i] = ndarray.FromFloats(dtype.Must("bf16"), c.Inputs[i].Shape, c.Inputs[i].Floats())
	wide.Inputs[i] = ndarray.FromFloats(c.Inputs[i].DType, c.Inputs[i].Shape, narrow.Inputs[i].Floats())
	narrow.Name += ", " + t.Op.Inputs[i].Name + " narrow"
	p, err := Prepare(t, &wide, true, "autocast")
	if err != nil {
		return err
	}
	p.Arguments.Inputs = calls.InputTensors(&narrow)
	for k, place := range p.Wrt {
		if cases.GivenInputs(c)[place] == i {
			p.Gradients[k] = ndarray.FromFloats(dtype.Must("bf16"), p.Gradients[k].Shape, p.Gradients[k].Floats())
		}
	}
	return autocast(t, &narrow, p)
}

func autocast(t *check.T, c *cases.Case, p *PreparedCall) error {
	r, err := SendTransformation(t, c.Name, Request("autocast", map[string]any{"dtype": "bfloat16"}, p))
	if err != nil {
		return err
	}
	ExpectArrays(t, c.Name, r, 0, p.Expected())
	return nil
}
