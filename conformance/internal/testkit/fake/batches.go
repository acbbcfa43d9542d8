package fake

import (
	"context"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/internal/system/rpc"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// BatchingFramework is a framework whose process makes random calls by itself.
type BatchingFramework struct {
	*Framework
	// CrashAt is the number of the call that ends the process, Growth what it keeps, Fails are calls that fail in a
	// batch only.
	CrashAt, Growth int64
	Fails           []int64
	// CrashedAt is the number that a crash leaves behind, if not its own.
	CrashedAt *int64
	at        int64
	Used      tvmffi.Memory
}

// Batch makes the calls as the process would.
func (b *BatchingFramework) Batch(ctx context.Context, op string, seed uint64, from, count int64) (*calls.RandomTally, error) {
	project, err := loadToy()
	if err != nil {
		return nil, err
	}
	t := &check.T{Ctx: ctx, Env: &check.Environment{Project: project, Device: "cpu"}, Caller: b.Framework}
	for _, o := range project.Ops {
		if o.Name == op {
			t.Op = cases.Tested(o)
		}
	}
	r, err := random.NewGenerator(t, seed)
	if err != nil {
		return nil, err
	}
	tally := &calls.RandomTally{}
	for b.at = from; b.at < from+count; b.at++ {
		if b.at == b.CrashAt {
			b.CrashAt, b.Used = -1, tvmffi.Memory{} // another process goes on
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		if err := r.Make(b.at, tally); err != nil {
			return nil, err
		}
		if slices.Contains(b.Fails, b.at) {
			tally.Failed, tally.Texts = append(tally.Failed, b.at), append(tally.Texts, "odd")
		}
	}
	b.Used.Live += b.Growth
	return tally, nil
}

// CallInProgress is the number of the last call.
func (b *BatchingFramework) CallInProgress() int64 {
	if b.CrashedAt != nil {
		return *b.CrashedAt
	}
	return b.at
}

// Usage grows with every batch, if it is to.
func (b *BatchingFramework) Usage(context.Context) (tvmffi.Memory, error) { return b.Used, nil }
