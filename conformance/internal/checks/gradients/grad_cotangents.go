package gradients

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var gradCotangentsCheck = transformed.Check("grad-cotangents", transformed.Differentiates,
	"cotangents with strides, expanded or made by the framework give the same gradients", checkCotangents)

// checkCotangents gives cotangents every layout that the framework has, and lets it make one itself.
func checkCotangents(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		p, err := transformed.Prepare(t, c, true, "grad")
		if err != nil {
			return err
		}
		if err := check.ForEach(ndarray.Layouts, func(l ndarray.Layout) error { return laidOutCotangent(t, p, l) }); err != nil {
			return err
		}
		return ownCotangent(t, p)
	})
}

// firstFloating is the place of the first array of floating point: integers have no gradient. A gradient op has one.
func firstFloating(arrays []*ndarray.Array) int {
	return slices.IndexFunc(arrays, func(a *ndarray.Array) bool { return a.DType.Inexact() })
}

// laidOutCotangent gives the first cotangent strides.
func laidOutCotangent(t *check.T, whole *transformed.PreparedCall, layout ndarray.Layout) error {
	var dense []*ndarray.Array
	for _, ct := range whole.Arguments.Cotangents {
		dense = append(dense, ct.Array)
	}
	first := firstFloating(dense)
	view := layout.Apply(dense[first])
	if view == nil {
		return nil
	}
	laidOut := slices.Clone(dense)
	dense[first], laidOut[first] = view.Dense(), view
	p := *whole
	if err := transformed.Differentiated(t, &p, dense); err != nil {
		return err
	}
	p.Arguments.Cotangents = calls.TensorsOf(laidOut)
	return gradients(t, p.C.Name+", cotangent "+layout.Name, nil, &p)
}

// ownCotangent differentiates the sum of the first result of floating point: the cotangent is one everywhere, without memory of its own.
func ownCotangent(t *check.T, whole *transformed.PreparedCall) error {
	ones, summed := []*ndarray.Array{}, false
	for _, ct := range whole.Arguments.Cotangents {
		value := 0.0
		if !summed && ct.DType.Inexact() {
			value, summed = 1, true
		}
		ones = append(ones, ndarray.Full(ct.DType, ct.Shape, value))
	}
	p := *whole
	if err := transformed.Differentiated(t, &p, ones); err != nil {
		return err
	}
	return gradients(t, p.C.Name+", gradient of the sum", map[string]any{"sum": true}, &p)
}
