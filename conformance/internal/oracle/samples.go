package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Samplers are those of the ops whose authors make contents, by the names of the ops.
func (o *Python) Samplers(ctx context.Context, ops []*opdef.Op) map[string]cases.Sampler {
	out := map[string]cases.Sampler{}
	for _, op := range ops {
		if op.Defines("samples") {
			out[op.Name] = func(sizes map[string]any, seed uint64) (map[string]cases.Sampled, error) {
				return o.samples(ctx, op, sizes, seed)
			}
		}
	}
	return out
}

// samples runs an author's function.
func (o *Python) samples(
	ctx context.Context, op *opdef.Op, sizes map[string]any, seed uint64,
) (map[string]cases.Sampled, error) {
	m, err := o.Worker.Call(ctx, map[string]any{
		"do": "samples", "file": op.File, "text": op.Module, "sizes": sizes, "seed": seed,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("samples of %s: %w", op.Name, err)
	}
	var answer struct {
		Error    string
		Names    []string
		Shapes   [][]int64
		Integers [][]*big.Int
	}
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return nil, fmt.Errorf("samples of %s: %w", op.Name, err)
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("samples of %s: %s", op.Name, answer.Error)
	}
	out := map[string]cases.Sampled{}
	for i, name := range answer.Names {
		out[name] = cases.Sampled{Shape: answer.Shapes[i], Values: ndarray.Float64s(m.Blobs[i]), Integers: answer.Integers[i]}
	}
	return out, nil
}
