package fake

import (
	"context"
	"crypto/sha256"
	"os"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/checks/endurance"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/system/rpc"
)

// ThreadGone marks a result that never comes.
const ThreadGone = "threadGone"

// CallConcurrently makes the calls one after the other, in the order of the threads.
func (f *Framework) CallConcurrently(ctx context.Context, made []*calls.Call, repeat int) ([][]*calls.Result, error) {
	var out [][]*calls.Result
	for i, call := range made {
		var list []*calls.Result
		for range min(repeat, 2) {
			r, err := f.Call(ctx, call)
			if err != nil {
				return nil, err
			}
			if f.OnConcurrent != nil {
				f.OnConcurrent(i, call, r)
			}
			if r.Unsupported == ThreadGone {
				continue
			}
			list = append(list, r)
		}
		out = append(out, list)
	}
	return out, nil
}

// StartChild starts nothing.
func (f *Framework) StartChild(context.Context, string) error { return nil }

// CallInChild makes the call.
func (f *Framework) CallInChild(ctx context.Context, method string, call *calls.Call) (*calls.Result, string, error) {
	r, err := f.Call(ctx, call)
	if f.OnChild != nil && err == nil {
		if died := f.OnChild(method, call, r); died != "" {
			return nil, died, nil
		}
	}
	return r, "", err
}

// Endure adds what the probes of GroupEnduranceProbes note: a process that keeps what it has.
func Endure(r *calls.Result, f *Framework, call *calls.Call) {
	if call.Probe != endurance.GroupEnduranceProbes+".leaks" {
		return
	}
	raised, states := "", []any{}
	if r.Error != nil {
		raised = r.Error.Class
	}
	r.Error, r.Outputs = nil, nil
	for round := range 4 {
		one := endurance.ProcessState{Blocks: 1000 + int64(round), Live: 5000, References: 3}
		if f.KeptMemory != nil {
			f.KeptMemory(&one, int64(round), raised)
		}
		states = append(states, map[string]any{"blocks": one.Blocks, "live": one.Live, "references": one.References})
	}
	r.Notes = map[string]any{"raised": raised, "calls": 9000, "states": states}
}

// RealOracle starts the Python worker that evaluates references; none may take longer than the deadline.
func RealOracle(t *testing.T, deadline time.Duration) *oracle.Python {
	t.Helper()
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		python = path("..", "..", "..", ".venv", "bin", "python")
	}
	dir := t.TempDir()
	if err := worker.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	config, err := worker.Command(python, dir, worker.Config{Caller: "reference_caller", Paths: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	config.CallDeadline, config.Memory = deadline, 1<<30
	w := rpc.New(config)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &oracle.Python{Worker: w, Cache: map[[sha256.Size]byte][]oracle.Expected{}}
}
