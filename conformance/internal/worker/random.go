package worker

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// NativeProcess is the suite's end of the process that calls from Go.
type NativeProcess struct {
	*Process
	// LastCall is memory of both processes, with the number of the random call that began last, plus one.
	LastCall []byte
}

// Batch has the process make random calls.
func (n *NativeProcess) Batch(ctx context.Context, op string, seed uint64, from, count int64) (*calls.RandomTally, error) {
	tally := &calls.RandomTally{}
	binary.LittleEndian.PutUint64(n.LastCall, 0) // what an earlier batch left there is no call of this one
	return tally, n.ask(ctx, map[string]any{"do": calls.DoRandom, "op": op, "seed": seed, "from": from, "count": count}, tally)
}

// CallInProgress is the number of the call that began last in the batch; -1 if none did.
func (n *NativeProcess) CallInProgress() int64 {
	return int64(binary.LittleEndian.Uint64(n.LastCall)) - 1
}

// Usage measures the memory of the process.
func (n *NativeProcess) Usage(ctx context.Context) (tvmffi.Memory, error) {
	var m tvmffi.Memory
	return m, n.ask(ctx, map[string]any{"do": calls.DoUsage}, &m)
}

// ask sends a request and reads the answer.
func (n *NativeProcess) ask(ctx context.Context, request map[string]any, answer any) error {
	m, err := n.Worker.Call(ctx, request, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(m.Header, answer); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// RandomBatcher is the process, if it makes random calls by itself; else it is nil.
func (r *Process) RandomBatcher() calls.RandomBatcher {
	if r.ProgressPage == nil {
		return nil
	}
	return &NativeProcess{r, r.ProgressPage}
}
