package gradients

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var jacobianCheck = transformed.Check("jacobian", transformed.Differentiates,
	"jacrev gives the gradients of every element", checkJacobian)

// jacobianPlan is small: its gradient is computed once for each element of a result.
func jacobianPlan(op *opdef.Op, d cases.DTypes, without []string) cases.Plan {
	p := cases.Plan{Name: "jacobian", DTypes: d, Batch: []int64{2}, Sizes: map[string]int64{}, Without: without}
	for _, s := range cases.Symbols(op) {
		p.Sizes[s] = 3
	}
	return p
}

// checkJacobian compares every row of the Jacobian of the first result of floating point with a gradient.
func checkJacobian(t *check.T) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	for _, p := range cases.OptionalPlans(t.Op, d) {
		c, err := t.NewCase(jacobianPlan(t.Op, d, p.Without))
		if err != nil {
			return check.Skip("no small sizes satisfy the definition")
		}
		if err := check.Proceed(jacobianOf(t, c)); err != nil {
			return err
		}
	}
	return nil
}

func jacobianOf(t *check.T, c *cases.Case) error {
	basis, err := transformed.RandomCotangents(t, c, "jacobian")
	if err != nil {
		return err
	}
	var rows [][]*ndarray.Array
	of := firstFloating(basis)
	given := func(a *ndarray.Array) bool { return a != nil && a.DType.Complex() }
	if slices.ContainsFunc(slices.Concat(basis, c.Inputs), given) {
		return t.Inexpressible("frameworks have Jacobians of real functions of real numbers only")
	}
	for i := range basis[of].Len() {
		one := []*ndarray.Array{}
		for k, ct := range basis {
			zeros := make([]float64, ct.Len())
			if k == of {
				zeros[i] = 1
			}
			one = append(one, ndarray.FromFloats(ct.DType, ct.Shape, zeros))
		}
		_, gradients, err := transformed.BareGradient(t, c, one)
		if err != nil {
			return err
		}
		rows = append(rows, transformed.GradientsAt(c, gradients, transformed.DifferentiableInputs(c)))
	}
	var want []*ndarray.Array
	for k, like := range rows[0] {
		whole := transformed.Stack(transformed.Column(rows, k), like, 0)
		whole.Shape = slices.Concat(basis[of].Shape, like.Shape)
		whole.Strides = ndarray.DenseStrides(whole.Shape)
		want = append(want, whole)
	}
	r, err := transformed.Send(t, c.Name, &calls.Transformation{
		Method: "jacobian", Call: calls.New(c), Calls: []calls.Arrays{{Inputs: calls.InputTensors(c)}}, Options: map[string]any{"wrt": transformed.DifferentiableInputs(c), "of": of},
	}, nil)
	if err != nil {
		return err
	}
	gaveEach(t, c.Name, r, want)
	return nil
}

// gaveEach expects the same arrays from every way that the worker tried.
func gaveEach(t *check.T, name string, r *calls.Transformed, want []*ndarray.Array) {
	transformed.EachWay(t, name, r, func(name string, c *calls.TransformedCall) { transformed.Expect(t, name, c, want) })
}
