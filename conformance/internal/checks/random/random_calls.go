package random

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/results/report"
)

var randomCallsCheck = check.Check{
	ID: "random-calls", Group: check.GroupErrors,
	Doc:   "a random call raises the error that the rules tell, or computes; the process does not crash and does not grow",
	Needs: callsFromGo, Foreign: check.AboutGenerated, Run: checkRandom,
}

// checkRandom makes random calls and judges each.
func checkRandom(t *check.T) error {
	r, err := NewGenerator(t, t.Env.Seed)
	if err != nil {
		return err
	}
	t.CurrentRow().Seed = fmt.Sprint(t.Env.Seed)
	total, count := &calls.RandomTally{}, int64(t.Env.RandomCallsPerOp)
	figures := report.Random{Op: t.Op.Name, Adaptor: t.Caller.Name(), Seed: t.Env.Seed}
	if b := batcherOf(t.Caller); b != nil {
		run := &batchRun{t: t, b: b, r: r, total: total, count: count}
		if err := run.run(&figures); err != nil {
			return err
		}
	} else {
		for i := range count {
			if err := r.Make(i, total); err != nil {
				return err
			}
		}
	}
	t.CurrentRow().Checked += int(total.Calls)
	if !r.onlyInvalid && total.Reached*reachedShare < total.Calls || total.Calls*2 < count {
		t.Fail(nil, "random calls", "of %d, %d were possible and %d reach a kernel, want a tenth", count, total.Calls, total.Reached)
	}
	figures.Calls, figures.Reached, figures.Raised = total.Calls, total.Reached, total.Raised
	t.Env.RandomTallies.Add(figures)
	return nil
}

// Random calls are made in batches, so that a call costs no message; the first ones fill the caches of the process and do
// not count as growth.
const (
	randomBatch   = 2000
	randomWarm    = 2000
	randomGrowth  = 1 << 20
	randomCrashes = 3
)

// batcherOf is a caller's batcher; nil if it has none.
func batcherOf(caller calls.Caller) calls.RandomBatcher {
	if b, ok := caller.(calls.RandomCaller); ok {
		return b.RandomBatcher()
	}
	b, _ := caller.(calls.RandomBatcher)
	return b
}
