package conformance

import (
	"context"
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rpc"
	"github.com/opcast/opcast/internal/tvmffi"
)

// batches is a framework whose process makes random calls by itself.
type batches struct {
	*fake
	// crashAt is the number of the call that ends the process, growth what it keeps, fails are calls that fail in a batch only.
	crashAt, growth int64
	fails           []int64
	// reached is the number that a crash leaves behind, if not its own.
	reached *int64
	at      int64
	used    tvmffi.Memory
}

// Batch makes the calls as the process would.
func (b *batches) Batch(ctx context.Context, op string, seed uint64, from, count int64) (*randomTally, error) {
	project, _, err := opdef.Load("testdata/toy")
	if err != nil {
		return nil, err
	}
	t := &T{ctx: ctx, env: &environment{project: project, device: "cpu"}, Caller: b.fake}
	for _, o := range project.Ops {
		if o.Name == op {
			t.Op = o
		}
	}
	r, err := newRandomizer(t, seed)
	if err != nil {
		return nil, err
	}
	tally := &randomTally{}
	for b.at = from; b.at < from+count; b.at++ {
		if b.at == b.crashAt {
			b.crashAt, b.used = -1, tvmffi.Memory{} // another process goes on
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		if err := r.make(b.at, tally); err != nil {
			return nil, err
		}
		if slices.Contains(b.fails, b.at) {
			tally.Failed, tally.Texts = append(tally.Failed, b.at), append(tally.Texts, "odd")
		}
	}
	b.used.Live += b.growth
	return tally, nil
}

// Reached is the number of the last call.
func (b *batches) Reached() int64 {
	if b.reached != nil {
		return *b.reached
	}
	return b.at
}

// Usage grows with every batch, if it is to.
func (b *batches) Usage(context.Context) (tvmffi.Memory, error) { return b.used, nil }

// checkNamed finds a check.
func checkNamed(t *testing.T, id string) Check {
	t.Helper()
	for _, c := range checks() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no check %q", id)
	return Check{}
}

// The total goes before the number for each op, and is reached or exceeded by a few.
func TestRandomCalls(t *testing.T) {
	p := toy(t)
	n := len(p.Ops)
	for name, test := range map[string]struct {
		options Options
		want    int
	}{
		"nothing":  {Options{}, randomCalls},
		"each":     {Options{Random: 7}, 7},
		"total":    {Options{Random: 7, RandomTotal: 10*n + 1}, 11},
		"some ops": {Options{RandomTotal: 100, Ops: []string{"affine", "norm"}}, 50},
	} {
		test.options.Project = p
		if got := test.options.randomCalls(); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}
