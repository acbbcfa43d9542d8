package gradients

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/opdef/derivative"
)

var gradSomeCheck = transformed.Check("grad-some", transformed.Differentiates,
	"gradients of some inputs are those of all; by an input that has none, NotImplementedError is raised", checkGradSome)

// checkGradSome differentiates by each input alone.
func checkGradSome(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		if err := withoutGradient(t, c); err != nil {
			return err
		}
		whole, err := transformed.Prepare(t, c, true, "grad")
		if err != nil {
			return err
		}
		left := whole.Gradients
		return check.ForEach(whole.Wrt, func(place int) error {
			p := *whole
			p.Wrt, p.Gradients, left = []int{place}, left[:1], left[1:]
			return gradients(t, fmt.Sprintf("%s, by input %d", c.Name, place), nil, &p)
		})
	})
}

// withoutGradient differentiates by each input of floating point that has no gradient.
func withoutGradient(t *check.T, c *cases.Case) error {
	none := derivative.Without(t.Op)
	if len(none) == 0 {
		return nil
	}
	cotangents, err := transformed.RandomCotangents(t, c, "without gradient")
	if err != nil {
		return err
	}
	for _, place := range floatingInputs(c) {
		name := t.Op.Inputs[cases.GivenInputs(c)[place]].Name
		if !slices.Contains(none, name) {
			continue
		}
		x := &calls.Transformation{
			Method: "second", Call: calls.New(c), Calls: []calls.Arrays{{Inputs: calls.InputTensors(c), Cotangents: calls.TensorsOf(cotangents)}},
			Options: map[string]any{"wrt": []int{place}},
		}
		var facts struct{ Advice string }
		r, err := transformed.Send(t, c.Name+", by "+name, x, &facts)
		if err != nil {
			return err
		}
		transformed.ExpectNotImplemented(t, c.Name+", by "+name, r.In("first", 0), fmt.Sprintf(noGradient, t.Op.Name+": "+name)+facts.Advice)
	}
	return nil
}
