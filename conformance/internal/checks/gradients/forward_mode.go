package gradients

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var forwardModeCheck = transformed.Check("forward-mode", transformed.Transforms,
	"tangents, of gradients too, have the bits of the op that is named for them in every spelling; without one, NotImplementedError is raised", checkForwardMode)

// checkForwardMode asks for tangents of the results, and of the gradients.
func checkForwardMode(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		switch {
		case len(floatingInputs(c)) == 0:
			return t.Inexpressible("no input of this call has a tangent: none is of floating point")
		case t.Op.Tangent == nil:
			return noTangents(t, c)
		}
		moved := transformed.MovedInputs(c)
		parts := [][]int{moved}
		if len(moved) > 1 {
			parts = slices.AppendSeq(parts, slices.Chunk(moved, 1))
		}
		if err := check.ForEach(parts, func(places []int) error { return tangents(t, c, places) }); err != nil {
			return err
		}
		if t.Op.Gradient == nil {
			return nil
		}
		return tangentsOfGradients(t, c)
	})
}

// noTangents expects every spelling to refuse.
func noTangents(t *check.T, c *cases.Case) error {
	r, err := transformed.Send(t, c.Name, &calls.Transformation{
		Method: "forward mode", Call: calls.New(c), Calls: []calls.Arrays{{Inputs: calls.InputTensors(c)}}, Options: map[string]any{"wrt": floatingInputs(c)},
	}, nil)
	if err != nil {
		return err
	}
	texts := []string{fmt.Sprintf(noForwardMode, t.Op.Name)}
	if t.Op.Gradient == nil { // then it may say that there is no derivative at all
		texts = append(texts, fmt.Sprintf(noGradient, t.Op.Name))
	}
	refusesEach(t, c.Name, r, texts...)
	return nil
}

// refusesEach expects every way to refuse with one of some texts.
func refusesEach(t *check.T, name string, r *calls.Transformed, texts ...string) {
	transformed.EachWay(t, name, r, func(name string, c *calls.TransformedCall) { transformed.ExpectNotImplemented(t, name, c, texts...) })
}

// tangents moves the inputs at some places and compares with the op of tangents.
func tangents(t *check.T, c *cases.Case, places []int) error {
	moving := tangentsAt(c, places)
	results, moved, err := transformed.BareTangent(t, c, moving)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s, tangents of inputs %v", c.Name, places)
	r, err := sendTangents(t, name, c, nil, map[string]any{"wrt": places}, given(moving))
	if err != nil {
		return err
	}
	gaveEach(t, name, r, slices.Concat(results, given(moved)))
	return nil
}

// tangentsAt are random tangents of the inputs at places among the given ones, and nil for the others.
func tangentsAt(c *cases.Case, places []int) []*ndarray.Array {
	moving, all := make([]*ndarray.Array, len(c.Inputs)), transformed.RandomLike("tangents of "+c.Op.Name, c.Inputs)
	for _, place := range places {
		i := cases.GivenInputs(c)[place]
		moving[i] = all[i]
	}
	return moving
}

// tangentsOfGradients moves inputs and cotangents of the gradients, as forward over reverse mode does.
func tangentsOfGradients(t *check.T, c *cases.Case) error {
	cotangents, err := transformed.RandomCotangents(t, c, "moved")
	if err != nil {
		return err
	}
	g, err := transformed.NewGradients(t, c, cotangents)
	if err != nil {
		return err
	}
	wrt, name := transformed.DifferentiableInputs(c), c.Name+", tangents of gradients"
	moving, along := tangentsAt(c, wrt), transformed.RandomLike("tangents of cotangents of "+c.Op.Name, cotangents)
	options := map[string]any{"wrt": wrt, "gradients": true}
	r, err := sendTangents(t, name, c, cotangents, options, slices.Concat(given(moving), floating(along)))
	if err != nil {
		return err
	}
	if back := t.Op.Gradient; back.Tangent == nil {
		refusesEach(t, name, r, fmt.Sprintf(noForwardMode, back.Name), fmt.Sprintf(noGradient, back.Name))
		return nil
	}
	moved, err := g.Moved(t, moving, along)
	if err != nil {
		return err
	}
	gaveEach(t, name, r, slices.Concat(g.At(g.Values(), wrt), g.At(moved, wrt)))
	return nil
}

// sendTangents asks for what a function gives and its tangents, which come after the arrays of the call.
func sendTangents(
	t *check.T, name string, c *cases.Case, cotangents []*ndarray.Array, options map[string]any, tangents []*ndarray.Array,
) (*calls.Transformed, error) {
	return transformed.Send(t, name, &calls.Transformation{
		Method: "tangents", Call: calls.New(c), Options: options,
		Calls: []calls.Arrays{
			{Inputs: calls.InputTensors(c), Cotangents: calls.TensorsOf(cotangents)}, {Inputs: calls.TensorsOf(tangents)},
		},
	}, nil)
}

// given are the arrays that exist.
func given(arrays []*ndarray.Array) []*ndarray.Array {
	return slices.DeleteFunc(slices.Clone(arrays), func(a *ndarray.Array) bool { return a == nil })
}
