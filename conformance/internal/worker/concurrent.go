package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/system/rpc"
)

// CallConcurrently makes the calls at once.
func (r *Process) CallConcurrently(ctx context.Context, list []*calls.Call, repeat int) ([][]*calls.Result, error) {
	request, blobs := calls.ConcurrentRequest{Do: calls.DoThreads, Repeat: repeat}, [][]byte(nil)
	for _, call := range list {
		w, more := calls.Pack(r.CallerName, call)
		request.Calls = append(request.Calls, calls.ConcurrentCall{Call: w, From: len(blobs), To: len(blobs) + len(more)})
		blobs = append(blobs, more...)
	}
	m, err := r.Worker.Call(ctx, request, blobs)
	if err != nil {
		return nil, err
	}
	var told calls.ConcurrentAnswers
	if err := json.Unmarshal(m.Header, &told); err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	results := make([][]*calls.Result, len(list))
	for _, a := range told.Answers {
		if a.Thread < 0 || a.Thread >= len(list) || a.Blobs > len(m.Blobs) {
			return nil, fmt.Errorf("read answers: thread %d with %d blobs", a.Thread, a.Blobs)
		}
		one, err := calls.ReadResult(rpc.Message{Header: a.Body, Blobs: m.Blobs[:a.Blobs]}, list[a.Thread].Tensors())
		if err != nil {
			return nil, err
		}
		results[a.Thread], m.Blobs = append(results[a.Thread], one), m.Blobs[a.Blobs:]
	}
	return results, nil
}

// StartChild starts the child in which CallInChild makes calls.
func (r *Process) StartChild(ctx context.Context, method string) error {
	_, err := r.Worker.Call(ctx, map[string]any{"do": "start child", "method": method}, nil)
	return err
}

// CallInChild makes a call in a child of the worker.
func (r *Process) CallInChild(ctx context.Context, method string, call *calls.Call) (result *calls.Result, died string, err error) {
	w, blobs := calls.Pack(r.CallerName, call)
	m, err := r.Worker.Call(ctx, map[string]any{"do": "child", "method": method, "call": w}, blobs)
	if err != nil {
		return nil, "", err
	}
	var end struct{ Died string }
	if err := json.Unmarshal(m.Header, &end); err != nil || end.Died != "" {
		return nil, end.Died, err
	}
	result, err = calls.ReadResult(m, call.Tensors())
	return result, "", err
}
