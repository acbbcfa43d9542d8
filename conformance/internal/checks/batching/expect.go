package batching

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// mappedCall is a map with its arguments and what it must give.
type mappedCall struct {
	arguments calls.Arrays
	want      []*ndarray.Array
}

// mappedByLoop computes a map by a loop over the bare backend.
func mappedByLoop(t *check.T, m *mapping) (*mappedCall, error) {
	inputs, err := m.arguments()
	if err != nil {
		return nil, err
	}
	like, err := transformed.BareCall(t, m.base)
	if err != nil {
		return nil, err
	}
	parts, err := m.slices()
	if err != nil {
		return nil, err
	}
	results := [][]*ndarray.Array{}
	for _, part := range parts {
		made, err := transformed.BareCall(t, part)
		if err != nil {
			return nil, err
		}
		results = append(results, made.Results(t.Op))
	}
	return &mappedCall{calls.Arrays{Inputs: inputs}, m.stacked(results, like.Results(t.Op))}, nil
}

// expectMapped maps the call of a case and expects what a loop over the bare backend gives.
func expectMapped(t *check.T, c *cases.Case, levels ...level) error {
	p := cases.Plan{Name: "map", DTypes: c.DTypes, Batch: c.Batch, Leads: c.Leads, Sizes: c.Sizes, Attrs: c.Attrs, Without: transformed.AbsentInputs(c)}
	m, err := newMapping(t, p, levels...)
	if err != nil {
		return err
	}
	x, err := mappedByLoop(t, m)
	if err != nil {
		return err
	}
	axes := [][]any{}
	for _, l := range levels {
		axes = append(axes, l.axes)
	}
	r, err := transformed.Send(t, m.describe(), &calls.Transformation{
		Method: "vmap", Call: calls.New(m.base), Calls: []calls.Arrays{x.arguments}, Options: map[string]any{"levels": axes},
	}, nil)
	if err != nil {
		return err
	}
	if name := m.overwritten(); name != "" {
		expectMapRefusal(t, m.describe(), r.In("", 0), name)
	} else if transformed.ExpectParts(t, m.describe(), r.In("", 0), x.want) && !m.repeats() {
		transformed.ExpectLaunches(t, m.describe(), r.In("", 0), map[string]int64{t.Op.Name: m.launches()})
	}
	return nil
}

// expectMapRefusal expects the refusal of a map that would have to write several results into one input.
func expectMapRefusal(t *check.T, name string, c *calls.TransformedCall, input string) {
	want := fmt.Sprintf("%s: %s: expected to be mapped too, since it is overwritten", t.Op.Name, input)
	if e := c.Error; e == nil {
		t.Fail(nil, name, "returned a result, want ValueError: %s", want)
	} else if e.Class != "ValueError" || e.Text != want {
		t.Fail(nil, name, "raised\n  %s: %s\nwant\n  ValueError: %s", e.Class, e.Text, want)
	}
}
