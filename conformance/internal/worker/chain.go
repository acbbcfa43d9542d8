package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/system/rpc"
)

// ChainProcess is a worker that has several frameworks in one process.
type ChainProcess struct {
	Worker   *rpc.Worker
	Adaptors []string
}

// Frameworks are the adaptors of the process.
func (r *ChainProcess) Frameworks() []string { return r.Adaptors }

// Chain calls twice and hands the array over in between.
func (r *ChainProcess) Chain(
	ctx context.Context, call *calls.Call, link calls.ChainLink, first, second string,
) (*calls.Result, uint64, uint64, error) {
	request, blobs := calls.PublicCall(call)
	m, err := r.Worker.Call(ctx, struct {
		calls.WireCall
		Do     string `json:"do"`
		Take   int    `json:"take"`
		Feed   int    `json:"feed"`
		First  string `json:"first"`
		Second string `json:"second"`
	}{request, "chain", link.Result, link.Feed, first, second}, blobs)
	if err != nil {
		return nil, 0, 0, err
	}
	result, err := calls.ReadResult(m, call.Tensors())
	if err != nil {
		return nil, 0, 0, err
	}
	var addresses struct{ From, To uint64 }
	if err := json.Unmarshal(m.Header, &addresses); err != nil {
		return nil, 0, 0, fmt.Errorf("read addresses: %w", err)
	}
	return result, addresses.From, addresses.To, nil
}
