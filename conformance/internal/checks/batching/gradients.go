package batching

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// composed is a mapped call with its gradient: arguments, and the results of every slice.
type composed struct {
	m *mapping
	// allMapped says that every input is mapped.
	allMapped          bool
	arguments          calls.Arrays
	parts              []*cases.Case
	results, gradients [][]*ndarray.Array
}

// compose prepares a map of one level; cotangents are mapped along axis 0.
func compose(t *check.T, c *cases.Case, axes []any) (*composed, error) {
	p := cases.Plan{Name: "compose", DTypes: c.DTypes, Batch: c.Batch, Leads: c.Leads, Sizes: c.Sizes, Attrs: c.Attrs, Without: transformed.AbsentInputs(c)}
	m, err := newMapping(t, p, level{3, axes})
	if err != nil {
		return nil, err
	}
	out := &composed{m: m, allMapped: !slices.Contains(axes, nil)}
	if out.arguments.Inputs, err = m.arguments(); err != nil {
		return nil, err
	}
	if out.parts, err = m.slices(); err != nil {
		return nil, err
	}
	var cotangents [][]*ndarray.Array
	for i, part := range out.parts {
		ct, err := transformed.RandomCotangents(t, part, fmt.Sprint("compose ", i))
		if err != nil {
			return nil, err
		}
		results, gradients, err := transformed.BareGradient(t, part, ct)
		if err != nil {
			return nil, err
		}
		cotangents = append(cotangents, ct)
		out.results = append(out.results, results)
		out.gradients = append(out.gradients, transformed.GradientsAt(part, gradients, transformed.DifferentiableInputs(c)))
	}
	out.arguments.Cotangents = calls.TensorsOf(m.stacked(cotangents, cotangents[0]))
	return out, nil
}

// options tell the way about levels and places; every cotangent is mapped.
func (x *composed) options(compile bool) map[string]any {
	axes := slices.Concat(x.m.levels[0].axes, slices.Repeat([]any{0}, len(x.arguments.Cotangents)))
	return map[string]any{"levels": [][]any{axes}, "wrt": transformed.DifferentiableInputs(x.m.base), "compile": compile}
}

// compositions say whether a composed transformation is compiled, too: that of a map over all inputs is.
func (x *composed) compositions() []bool {
	if x.allMapped {
		return []bool{false, true}
	}
	return []bool{false}
}

// everyMap runs a body with a map over all inputs and with one over each differentiable input alone.
func everyMap(t *check.T, body func(x *composed) error) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		n := len(cases.GivenInputs(c))
		maps := [][]any{slices.Repeat([]any{0}, n)}
		for _, place := range transformed.DifferentiableInputs(c) {
			one := make([]any, n)
			one[place] = 0
			if n > 1 {
				maps = append(maps, one)
			}
		}
		for _, axes := range maps {
			x, err := compose(t, c, axes)
			if err != nil {
				return err
			}
			if err := check.Proceed(body(x)); err != nil {
				return err
			}
		}
		return nil
	})
}
