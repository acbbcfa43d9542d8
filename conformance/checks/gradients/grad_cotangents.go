package gradients

import (
	"slices"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/conformance/checks/transforms"
	"github.com/opcast/opcast/internal/ndarray"
)

var gradCotangentsCheck = check.Check{
	ID: "grad-cotangents", Group: check.GroupTransform,
	Doc:     "cotangents with strides, expanded or made by the framework give the same gradients",
	Through: check.ThroughAdaptors,
	Needs:   transforms.Differentiates,
	Foreign: check.TransformsGenerated,
	Run:     checkCotangents,
}

// checkCotangents gives cotangents every layout that the framework has, and lets it make one itself.
func checkCotangents(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		p, err := transforms.Prepare(t, c, true, "grad")
		if err != nil {
			return err
		}
		if err := check.ForEach(ndarray.Layouts, func(l ndarray.Layout) error { return laidOutCotangent(t, p, l) }); err != nil {
			return err
		}
		return ownCotangent(t, p)
	})
}

// laidOutCotangent gives the first cotangent strides.
func laidOutCotangent(t *check.T, whole *transforms.PreparedCall, layout ndarray.Layout) error {
	view := layout.Apply(whole.Arguments.Cotangents[0].Array)
	if view == nil {
		return nil
	}
	dense := []*ndarray.Array{view.Dense()}
	for _, other := range whole.Arguments.Cotangents[1:] {
		dense = append(dense, other.Array)
	}
	p := *whole
	if err := transforms.Differentiated(t, &p, dense); err != nil {
		return err
	}
	p.Arguments.Cotangents = calls.TensorsOf(append([]*ndarray.Array{view}, dense[1:]...))
	return gradients(t, p.C.Name+", cotangent "+layout.Name, "grad", nil, &p)
}

// ownCotangent differentiates the sum of the first result: the cotangent is one everywhere, without memory of its own.
func ownCotangent(t *check.T, whole *transforms.PreparedCall) error {
	ones := []*ndarray.Array{}
	for i, ct := range whole.Arguments.Cotangents {
		value := 0.0
		if i == 0 {
			value = 1
		}
		ones = append(ones, ndarray.FromFloats(ct.DType, ct.Shape, slices.Repeat([]float64{value}, int(ct.Len()))))
	}
	p := *whole
	if err := transforms.Differentiated(t, &p, ones); err != nil {
		return err
	}
	return gradients(t, p.C.Name+", gradient of the sum", "grad", map[string]any{"sum": true}, &p)
}
