package batching

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var scanCheck = transformed.Check("scan", transformed.Offers("scan", transformed.Transforms),
	"loops and their gradients give what the single calls give", checkScan)

// checkScan loops over the first axis of every input.
func checkScan(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		axes := slices.Repeat([]any{0}, len(cases.GivenInputs(c)))
		if t.Op.Gradient == nil {
			return loop(t, c, axes)
		}
		x, err := compose(t, c, axes)
		if err != nil {
			return err
		}
		name := x.m.describe()
		r, err := transformed.Send(t, name, &calls.Transformation{
			Method: "scan", Call: calls.New(c), Calls: []calls.Arrays{x.arguments}, Options: x.options(false),
		}, nil)
		if err != nil {
			return err
		}
		transformed.Expect(t, name+", loop", r.In("loop", 0), x.m.stacked(x.results, x.results[0]))
		transformed.Expect(t, name+", gradient of the loop", r.In("gradients", 0), x.m.stacked(x.gradients, x.gradients[0]))
		return nil
	})
}

// loop is checkScan for an op without a gradient.
func loop(t *check.T, c *cases.Case, axes []any) error {
	p := cases.Plan{Name: "loop", DTypes: c.DTypes, Batch: c.Batch, Leads: c.Leads, Sizes: c.Sizes, Attrs: c.Attrs, Without: transformed.AbsentInputs(c)}
	m, err := newMapping(t, p, level{3, axes})
	if err != nil {
		return err
	}
	x, err := mappedByLoop(t, m)
	if err != nil {
		return err
	}
	r, err := transformed.Send(t, m.describe(), &calls.Transformation{
		Method: "scan", Call: calls.New(c), Calls: []calls.Arrays{x.arguments}, Options: map[string]any{"wrt": []int{}},
	}, nil)
	if err != nil {
		return err
	}
	transformed.ExpectParts(t, m.describe(), r.In("loop", 0), x.want)
	return nil
}
