package gradients

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var gradSecondCheck = transformed.Check("grad-second", transformed.Transforms,
	"gradients of gradients have the bits of the op that is named for them; one that is not defined raises NotImplementedError, when it is asked for and not before", checkSecond)

// checkSecond differentiates gradients, or asks for a derivative of what has none: of the gradient op, where the op has one,
// else of the op itself.
func checkSecond(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		if len(floatingInputs(c)) == 0 || !slices.ContainsFunc(t.Op.Results(), func(a opdef.Arg) bool { return c.DType(a.Type).Inexact() }) {
			return t.Inexpressible("nothing can be differentiated: no input, or no result, of this call is of floating point")
		}
		cotangents, err := transformed.RandomCotangents(t, c, "second")
		if err != nil {
			return err
		}
		if t.Op.Gradient != nil && t.Op.Gradient.Gradient != nil {
			return gradientsOfGradients(t, c, cotangents)
		}
		x := &calls.Transformation{
			Method: "second", Call: calls.New(c), Calls: []calls.Arrays{{Inputs: calls.InputTensors(c), Cotangents: calls.TensorsOf(cotangents)}},
			Options: map[string]any{"wrt": floatingInputs(c)},
		}
		if t.Op.Gradient != nil {
			x.Options["wrt"] = transformed.DifferentiableInputs(c)
		}
		var facts struct{ Advice string } // what to do about a refusal, in the framework's terms
		r, err := transformed.Send(t, c.Name, x, &facts)
		if err != nil {
			return err
		}
		if t.Op.Gradient == nil {
			transformed.ExpectNotImplemented(t, c.Name, r.In("first", 0), noGradientOf(t.Op, facts.Advice))
			return nil
		}
		_, all, err := transformed.BareGradient(t, c, cotangents)
		if err != nil {
			return err
		}
		transformed.Expect(t, c.Name+", with a graph of the gradients", r.In("first", 0), transformed.GradientsAt(c, all, transformed.DifferentiableInputs(c)))
		transformed.ExpectNotImplemented(t, c.Name+", second derivative", r.In("second", 0), noGradientOf(t.Op.Gradient, ""))
		return nil
	})
}

// gradientsOfGradients differentiates the gradients by inputs and cotangents, in every spelling.
func gradientsOfGradients(t *check.T, c *cases.Case, cotangents []*ndarray.Array) error {
	g, err := transformed.NewGradients(t, c, cotangents)
	if err != nil {
		return err
	}
	weights := transformed.RandomLike("weights of "+c.Op.Name, g.Values())
	inputs, through, err := g.Again(t, weights)
	if err != nil {
		return err
	}
	wrt := transformed.DifferentiableInputs(c)
	want := slices.Concat(g.At(g.Values(), wrt), transformed.GradientsAt(c, inputs, wrt), floating(through))
	r, err := transformed.Send(t, c.Name, &calls.Transformation{
		Method: "gradients of gradients", Call: calls.New(c),
		Calls: []calls.Arrays{
			{Inputs: calls.InputTensors(c), Cotangents: calls.TensorsOf(cotangents)}, {Inputs: calls.TensorsOf(g.At(weights, wrt))},
		},
		Options: map[string]any{"wrt": wrt},
	}, nil)
	if err != nil {
		return err
	}
	gaveEach(t, c.Name, r, want)
	return nil
}

// floating are the arrays of floating point, real or complex: integers have no derivative.
func floating(arrays []*ndarray.Array) []*ndarray.Array {
	return slices.DeleteFunc(slices.Clone(arrays), func(a *ndarray.Array) bool { return a == nil || !a.DType.Inexact() })
}

// noGradientOf is the text with which a gradient of an op is refused: it ends with advice, or says that there is but one.
func noGradientOf(op *opdef.Op, advice string) string {
	switch {
	case op.GradientOf != nil:
		advice = op.GradientOf.Name + " has a first derivative only"
	case op.TangentOf != nil:
		advice = "the tangents of " + op.TangentOf.Name + " have none"
	}
	return fmt.Sprintf(noGradient, op.Name) + advice
}
