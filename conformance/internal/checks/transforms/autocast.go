package transforms

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var autocastCheck = transformed.Check("autocast", transformed.Offers("autocast", transformed.Transforms),
	"under autocast, inputs that share a dtype are cast as the definition says", checkAutocast)

// lowered is the dtype of autocast in this check.
const lowered = "bf16"

// checkAutocast gives inputs of each dtype variable another dtype than that to which they are cast, and expects the bits of
// the call with that one.
func checkAutocast(t *check.T) error {
	done := false
	for _, d := range cases.SupportedDTypes(t.Op, t.Env.Device) {
		for _, v := range t.Op.DTypes {
			to, from := castTo(t.Op, v.Name), lowered
			if to == lowered {
				from = "f32"
			}
			if len(t.Op.Sharing(v.Name)) == 0 || d[v.Name] != to || !slices.Contains(v.OneOf, from) || !stays(t.Op, d) {
				continue
			}
			done = true
			t.StartRow("", d.String())
			if err := check.Proceed(autocastVariable(t, d, v.Name, from)); err != nil {
				return err
			}
		}
	}
	return check.SkipUnless(done, "no dtype variable may be float32 and bfloat16")
}

// castTo is the dtype that some inputs of a variable have in the check after they were cast.
func castTo(op *opdef.Op, variable string) string {
	if op.AutocastOf(variable) == "lower" {
		return lowered
	}
	return "f32"
}

// stays says whether autocast changes nothing of a call with these dtypes.
func stays(op *opdef.Op, d cases.DTypes) bool {
	return !slices.ContainsFunc(op.DTypes, func(v opdef.DTypeVar) bool {
		to := castTo(op, v.Name)
		named := op.AutocastOf(v.Name) != opdef.Autocasts[0] && len(op.Sharing(v.Name)) > 0
		return named && d[v.Name] != to && slices.Contains(v.OneOf, to)
	})
}

// autocastVariable gives another dtype to each input of a dtype variable, one at a time, and to all of them where the
// definition names the dtype to which they are cast; else to none, and nothing may be cast, where no two inputs share the
// variable.
func autocastVariable(t *check.T, d cases.DTypes, variable, from string) error {
	c, err := t.NewCase(cases.BasePlan(d))
	if err != nil {
		return err
	}
	sharing := slices.DeleteFunc(t.Op.Sharing(variable), func(i int) bool { return c.Inputs[i] == nil })
	named := t.Op.AutocastOf(variable) != opdef.Autocasts[0]
	if len(sharing) < 2 && !named {
		p, err := transformed.Prepare(t, c, true, "autocast")
		if err != nil {
			return err
		}
		return autocast(t, c, p)
	}
	var changes [][]int
	for _, i := range sharing {
		if !t.Op.Inputs[i].Mutated { // a copy would be overwritten in its place
			changes = append(changes, []int{i})
		}
	}
	if named {
		changes = append(changes, sharing)
	}
	return check.ForEach(changes, func(places []int) error { return otherInputs(t, c, places, dtype.Must(from)) })
}

// otherInputs gives some inputs another dtype. The contents are those that both dtypes have.
func otherInputs(t *check.T, c *cases.Case, places []int, other dtype.DType) error {
	sent, wanted := *c, *c
	sent.Inputs, wanted.Inputs = slices.Clone(c.Inputs), slices.Clone(c.Inputs)
	var names []string
	for _, i := range places {
		in := c.Inputs[i]
		sent.Inputs[i] = ndarray.FromFloats(other, in.Shape, in.Floats())
		wanted.Inputs[i] = ndarray.FromFloats(in.DType, in.Shape, sent.Inputs[i].Floats())
		names = append(names, t.Op.Inputs[i].Name)
	}
	sent.Name += ", " + strings.Join(names, " and ") + " " + other.Long
	p, err := transformed.Prepare(t, &wanted, true, "autocast")
	if err != nil {
		return err
	}
	p.Arguments.Inputs = calls.InputTensors(&sent)
	for k, place := range p.Wrt {
		if slices.Contains(places, cases.GivenInputs(c)[place]) {
			p.Gradients[k] = ndarray.FromFloats(other, p.Gradients[k].Shape, p.Gradients[k].Floats())
		}
	}
	return autocast(t, &sent, p)
}

func autocast(t *check.T, c *cases.Case, p *transformed.PreparedCall) error {
	r, err := transformed.Send(t, c.Name, transformed.Request("autocast", map[string]any{"dtype": dtype.Must(lowered).Long}, p), nil)
	if err != nil {
		return err
	}
	transformed.Expect(t, c.Name, r.In("plain", 0), p.Expected())
	transformed.Expect(t, c.Name+", under a dispatch mode", r.In("under a dispatch mode", 0), p.Expected())
	return nil
}
