package conformance

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/internal/rpc"
)

// remoteChain is a worker that has several frameworks in one process.
type remoteChain struct {
	worker     *rpc.Worker
	frameworks []string
}

// Frameworks are the adaptors of the process.
func (r *remoteChain) Frameworks() []string { return r.frameworks }

// Chain calls twice and hands the array over in between.
func (r *remoteChain) Chain(
	ctx context.Context, call *Call, link chainLink, first, second string,
) (*Result, uint64, uint64, error) {
	request, blobs := publicCall(call)
	m, err := r.worker.Call(ctx, struct {
		wireCall
		Do     string `json:"do"`
		Take   int    `json:"take"`
		Feed   int    `json:"feed"`
		First  string `json:"first"`
		Second string `json:"second"`
	}{request, "chain", link.result, link.feed, first, second}, blobs)
	if err != nil {
		return nil, 0, 0, err
	}
	result, err := readResult(m, call.tensors())
	if err != nil {
		return nil, 0, 0, err
	}
	var addresses struct{ From, To uint64 }
	if err := json.Unmarshal(m.Header, &addresses); err != nil {
		return nil, 0, 0, fmt.Errorf("read addresses: %w", err)
	}
	return result, addresses.From, addresses.To, nil
}
