package random

import (
	"errors"
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/rpc"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// batchRun has the caller's process make the random calls of an op and watches its memory.
type batchRun struct {
	t     *check.T
	b     calls.RandomBatcher
	r     *Generator
	total *calls.RandomTally
	count int64
	// crashed are the numbers of calls that ended the process: they are not made again.
	crashed []int64
	// before is what the process had before call number warm, when its caches were full; nil until then.
	before *tvmffi.Memory
	warm   int64
}

// run makes all calls.
func (s *batchRun) run(figures *report.Random) error {
	s.warm = s.warmAfter(0)
	for at := int64(0); at < s.count && len(s.crashed) < randomCrashes && s.t.Ctx.Err() == nil; {
		next, err := s.batch(at)
		if err != nil {
			return err
		}
		if at = next; s.before == nil && at >= s.warm {
			now, err := s.b.Usage(s.t.Ctx)
			if err != nil {
				return err
			}
			s.before, s.warm = &now, at
		}
	}
	return s.judgeGrowth(figures)
}

// warmAfter is the number of the call before which a process that begins with number from has its caches full.
func (s *batchRun) warmAfter(from int64) int64 { return from + min(randomWarm, (s.count-from)/2) }

// batch makes calls from a number on, without those that end the process, and returns with which number to go on.
func (s *batchRun) batch(at int64) (int64, error) {
	if slices.Contains(s.crashed, at) {
		return at + 1, nil
	}
	to := min(at+randomBatch, s.count)
	if s.before == nil && at < s.warm {
		to = min(to, s.warm)
	}
	for _, number := range s.crashed {
		if number > at {
			to = min(to, number)
		}
	}
	tally, err := s.b.Batch(s.t.Ctx, s.t.Op.Name, s.r.Seed, at, to-at)
	var crash *rpc.CrashError
	if errors.As(err, &crash) {
		return at, s.recordCrash(at, to, crash)
	}
	if err != nil {
		return at, err
	}
	s.total.Add(tally)
	for i, number := range tally.Failed {
		if err := s.repeatAlone(number, tally.Texts[i]); err != nil {
			return at, err
		}
	}
	return to, nil
}

// recordCrash records that a call of a batch ended the process. The calls of the batch before it told nothing, and are
// made again by another process, which has its caches to fill. What ended outside of all calls is no matter of a call.
func (s *batchRun) recordCrash(from, to int64, crash *rpc.CrashError) error {
	number := s.b.CallInProgress()
	if number < from || number >= to {
		return crash
	}
	s.crashed, s.before, s.warm = append(s.crashed, number), nil, s.warmAfter(from)
	one, found, err := s.r.Draw(number)
	if err != nil {
		return err
	}
	if !found {
		return crash
	}
	return check.Proceed(s.t.Crashed(one.Call, one.name, crash))
}

// repeatAlone repeats a call that failed in its batch, alone; if it does not fail then, what it did first is told.
func (s *batchRun) repeatAlone(number int64, text string) error {
	before := len(s.t.CurrentRow().Failures)
	if err := s.r.Make(number, &calls.RandomTally{}); err != nil {
		return err
	}
	if len(s.t.CurrentRow().Failures) == before && before <= check.MaxFailures {
		s.t.Fail(nil, fmt.Sprintf("random call %d", number), "among others, though not alone: %s", text)
	}
	return nil
}

// judgeGrowth judges how much the process grew. What it gave back counts as nothing, so that no op may grow by what
// another shrank.
func (s *batchRun) judgeGrowth(figures *report.Random) error {
	if s.before == nil {
		return nil
	}
	after, err := s.b.Usage(s.t.Ctx)
	if err != nil {
		return err
	}
	figures.Live, figures.Resident = max(after.Live-s.before.Live, 0), max(after.Resident-s.before.Resident, 0)
	if s.t.Env.Sanitizer != "" {
		figures.Resident = 0 // sanitizers keep what is freed, and remember accesses
	}
	live, resident := s.t.Env.RandomTallies.Growth()
	if live+figures.Live > randomGrowth || resident+figures.Resident > randomGrowth {
		s.t.Fail(nil, "random calls", "the process grew by %d bytes of malloc and by %d resident ones in %d calls, "+
			"after %d and %d with the ops before, want at most %d",
			figures.Live, figures.Resident, s.count-s.warm, live, resident, randomGrowth)
	}
	return nil
}
