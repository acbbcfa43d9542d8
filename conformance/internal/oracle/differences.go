package oracle

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// FiniteDifferences is the gradient of one input as finite differences see it: of complex numbers, that by either part.
type FiniteDifferences struct {
	Shape  []int64
	Values []float64
	// Spread is the distance between a coarse and a fine difference: large where the function has a kink.
	Spread []float64
}

// Differences differentiates the sum of the products of results and cotangents, one per slot or nil, with respect to the
// elements of the inputs with the given indices.
func (o *Python) Differences(
	ctx context.Context, c *cases.Case, cotangents []*ndarray.Array, inputs []int,
) ([]FiniteDifferences, error) {
	request, p := ReferenceRequest(c, "float64")
	request["do"] = "differences"
	weights := []calls.Tagged{}
	for _, a := range cotangents {
		if a == nil {
			weights = append(weights, p.Value(nil))
		} else {
			weights = append(weights, p.Array(&calls.Tensor{Array: a}))
		}
	}
	names := []string{}
	for _, i := range inputs {
		names = append(names, c.Op.Inputs[i].Name)
	}
	request["cotangents"], request["inputs"] = weights, names
	m, err := o.Worker.Call(ctx, request, p.Blobs)
	if err != nil {
		return nil, fmt.Errorf("reference of %s: %w", c.Op.Name, err)
	}
	var answer struct{ Error string }
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return nil, fmt.Errorf("reference of %s: %w", c.Op.Name, err)
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("reference of %s: %s", c.Op.Name, answer.Error)
	}
	var out []FiniteDifferences
	for k, i := range inputs {
		out = append(out, FiniteDifferences{c.Inputs[i].Parts().Shape, ndarray.Float64s(m.Blobs[2*k]), ndarray.Float64s(m.Blobs[2*k+1])})
	}
	return out, nil
}
