package conformance

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/internal/tvmffi"
)

// nativeRemote is the suite's end of the process that calls from Go.
type nativeRemote struct {
	*remote
	reached []byte
}

// Batch has the process make random calls.
func (n *nativeRemote) Batch(ctx context.Context, op string, seed uint64, from, count int64) (*randomTally, error) {
	tally := &randomTally{}
	binary.LittleEndian.PutUint64(n.reached, 0) // what an earlier batch left there is no call of this one
	return tally, n.ask(ctx, map[string]any{"do": doRandom, "op": op, "seed": seed, "from": from, "count": count}, tally)
}

// Reached is the number of the call that began last in the batch; -1 if none did.
func (n *nativeRemote) Reached() int64 { return int64(binary.LittleEndian.Uint64(n.reached)) - 1 }

// Usage measures the memory of the process.
func (n *nativeRemote) Usage(ctx context.Context) (tvmffi.Memory, error) {
	var m tvmffi.Memory
	return m, n.ask(ctx, map[string]any{"do": doUsage}, &m)
}

// ask sends a request and reads the answer.
func (n *nativeRemote) ask(ctx context.Context, request map[string]any, answer any) error {
	m, err := n.worker.Call(ctx, request, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(m.Header, answer); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// batcher is the remote if its process makes random calls by itself.
func (r *remote) batcher() batcher {
	if r.reached == nil {
		return nil
	}
	return &nativeRemote{r, r.reached}
}
