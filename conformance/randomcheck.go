package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/opcast/opcast/internal/native"
	"github.com/opcast/opcast/internal/report"
	"github.com/opcast/opcast/internal/worker"
)

// Random calls are made in batches, so that a call costs no message; the first ones fill the caches of the process and do
// not count as growth.
const (
	randomBatch   = 2000
	randomWarm    = 2000
	randomGrowth  = 1 << 20
	randomCrashes = 3
)

// randomTally counts what random calls did.
type randomTally struct {
	// Calls were made, Reached of them started a kernel.
	Calls   int64 `json:"calls"`
	Reached int64 `json:"reached"`
	// Raised counts errors by class.
	Raised map[string]int64 `json:"raised"`
	// Failed are the numbers of calls that did what they must not do, a few of them, and Texts what that was.
	Failed []int64  `json:"failed"`
	Texts  []string `json:"texts"`
}

func (r *randomTally) count(result *Result) {
	r.Calls++
	if result.Launches > 0 {
		r.Reached++
	}
	if result.Error != nil {
		if r.Raised == nil {
			r.Raised = map[string]int64{}
		}
		r.Raised[result.Error.Class]++
	}
}

func (r *randomTally) add(other *randomTally) {
	r.Calls, r.Reached = r.Calls+other.Calls, r.Reached+other.Reached
	if r.Raised == nil {
		r.Raised = map[string]int64{}
	}
	for class, n := range other.Raised {
		r.Raised[class] += n
	}
}

// batcher is a caller whose process makes random calls by itself.
type batcher interface {
	// Batch makes the calls from number `from`. After a crash, Reached tells at which number it was.
	Batch(ctx context.Context, op string, seed uint64, from, count int64) (*randomTally, error)
	Reached() int64
	// Usage measures the memory of the process.
	Usage(ctx context.Context) (native.Memory, error)
}

// batcherOf is a caller's batcher; nil if it has none.
func batcherOf(caller Caller) batcher {
	if b, ok := caller.(interface{ batcher() batcher }); ok {
		return b.batcher()
	}
	b, _ := caller.(batcher)
	return b
}

// checkRandom makes random calls and judges each.
func checkRandom(t *T) error {
	r, err := newRandomizer(t, t.env.seed)
	if err != nil {
		return err
	}
	t.row().seed = fmt.Sprint(t.env.seed)
	total, count := &randomTally{}, int64(t.env.random)
	figures := report.Random{Op: t.Op.Name, Adaptor: t.Caller.Name(), Seed: t.env.seed}
	if b := batcherOf(t.Caller); b != nil {
		if err := t.batches(b, r, total, count, &figures); err != nil {
			return err
		}
	} else {
		for i := range count {
			if err := r.make(i, total); err != nil {
				return err
			}
		}
	}
	t.row().done += int(total.Calls)
	if total.Reached*reachedShare < total.Calls || total.Calls*2 < count {
		t.Fail(nil, "random calls", "of %d, %d were possible and %d reach a kernel, want a tenth", count, total.Calls, total.Reached)
	}
	figures.Calls, figures.Reached, figures.Raised = total.Calls, total.Reached, total.Raised
	t.env.figures.add(figures)
	return nil
}

// batches has the caller's process make the calls and watches its memory.
func (t *T) batches(b batcher, r *randomizer, total *randomTally, count int64, figures *report.Random) error {
	warm := min(randomWarm, count/2)
	if err := t.batch(b, r, total, 0, warm); err != nil {
		return err
	}
	before, err := b.Usage(t.ctx)
	if err != nil {
		return err
	}
	if err := t.batch(b, r, total, warm, count); err != nil {
		return err
	}
	after, err := b.Usage(t.ctx)
	if err != nil {
		return err
	}
	figures.Live, figures.Resident = after.Live-before.Live, after.Resident-before.Resident
	live, resident := t.env.figures.growth()
	if live+figures.Live > randomGrowth || resident+figures.Resident > randomGrowth {
		t.Fail(nil, "random calls", "the process grew by %d bytes of malloc and by %d resident ones in %d calls, "+
			"after %d and %d with the ops before, want at most %d",
			figures.Live, figures.Resident, count-warm, live, resident, randomGrowth)
	}
	return nil
}

// batch makes the calls with the numbers from, …, to-1. A call that ends the process costs the others nothing.
func (t *T) batch(b batcher, r *randomizer, total *randomTally, from, to int64) error {
	for crashes := 0; from < to; {
		n := min(randomBatch, to-from)
		tally, err := b.Batch(t.ctx, t.Op.Name, r.seed, from, n)
		var crash *worker.CrashError
		if errors.As(err, &crash) {
			at := b.Reached()
			if err := t.crashed(r, at, crash); err != nil {
				return err
			}
			if crashes++; crashes == randomCrashes || t.ctx.Err() != nil {
				return nil
			}
			from = at + 1
			continue
		}
		if err != nil {
			return err
		}
		total.add(tally)
		for i, number := range tally.Failed {
			if err := t.again(r, number, tally.Texts[i]); err != nil {
				return err
			}
		}
		from += n
	}
	return nil
}

// crashed records that a random call ended the process.
func (t *T) crashed(r *randomizer, number int64, crash *worker.CrashError) error {
	one, err := r.draw(number)
	if err != nil {
		return err
	}
	if one == nil {
		return crash
	}
	t.Fail(one.call, one.name, "the process died: %s", crash.Error())
	return nil
}

// again repeats a call that failed in its batch, alone; if it does not fail then, what it did first is told.
func (t *T) again(r *randomizer, number int64, text string) error {
	before := len(t.row().failures)
	if err := r.make(number, &randomTally{}); err != nil {
		return err
	}
	if len(t.row().failures) == before && before <= maxFailures {
		t.Fail(nil, fmt.Sprintf("random call %d", number), "among others, though not alone: %s", text)
	}
	return nil
}

// figures are what the random calls of all ops came to.
type figures struct {
	mu   sync.Mutex
	list []report.Random
}

func (f *figures) add(r report.Random) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, r)
}

// growth is how much the process grew in the calls of all ops so far.
func (f *figures) growth() (live, resident int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.list {
		live, resident = live+r.Live, resident+r.Resident
	}
	return live, resident
}

// randomLine says what random calls of all ops came to; empty where there were none.
func randomLine(list []report.Random) string {
	var sum randomTally
	live, resident := int64(0), int64(0)
	for _, r := range list {
		sum.add(&randomTally{Calls: r.Calls, Reached: r.Reached, Raised: r.Raised})
		live, resident = live+r.Live, resident+r.Resident
	}
	if sum.Calls == 0 {
		return ""
	}
	var classes []string
	for _, class := range slices.Sorted(maps.Keys(sum.Raised)) {
		classes = append(classes, fmt.Sprintf("%s %d", class, sum.Raised[class]))
	}
	return fmt.Sprintf("random calls: %d, %.1f %% reached a kernel; %s; memory grew by %d bytes of malloc, %d resident",
		sum.Calls, 100*float64(sum.Reached)/float64(sum.Calls), strings.Join(classes, ", "), live, resident)
}
