package oracle

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// PropertyOracle is an oracle that also evaluates what an author says of results.
type PropertyOracle interface {
	// Properties returns what does not hold for the results of a call, by slot, or "". Absent results are nil.
	Properties(ctx context.Context, c *cases.Case, results []*ndarray.Array) (string, error)
}

// Properties evaluates the function properties of the neighbouring file.
func (o *Python) Properties(ctx context.Context, c *cases.Case, results []*ndarray.Array) (string, error) {
	request, p := ReferenceRequest(c, "float64")
	request["do"], request["text"] = "properties", c.Op.Module
	given := map[string]calls.Tagged{}
	for i, s := range cases.Slots(c.Op) {
		name := s.Name
		if s.Output < 0 {
			name = "new_" + name // beside what the input was before
		}
		given[name] = calls.Tagged{"none": nil}
		if results[i] != nil {
			given[name] = p.Array(&calls.Tensor{Array: c.Unpacked(s.Arg, results[i]).Dense()})
		}
	}
	request["results"] = given
	m, err := o.Worker.Call(ctx, request, p.Blobs)
	if err != nil {
		return "", fmt.Errorf("properties of %s: %w", c.Op.Name, err)
	}
	var answer struct{ Error string }
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return "", fmt.Errorf("properties of %s: %w", c.Op.Name, err)
	}
	return answer.Error, nil
}
