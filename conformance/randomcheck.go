package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/opcast/opcast/internal/report"
	"github.com/opcast/opcast/internal/tvmffi"
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
	// Batch makes the calls from number `from`. After a crash, Reached tells at which number it was; -1 if at none.
	Batch(ctx context.Context, op string, seed uint64, from, count int64) (*randomTally, error)
	Reached() int64
	// Usage measures the memory of the process.
	Usage(ctx context.Context) (tvmffi.Memory, error)
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
		run := &batchRun{t: t, b: b, r: r, total: total, count: count}
		if err := run.all(&figures); err != nil {
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
	if !r.refused && total.Reached*reachedShare < total.Calls || total.Calls*2 < count {
		t.Fail(nil, "random calls", "of %d, %d were possible and %d reach a kernel, want a tenth", count, total.Calls, total.Reached)
	}
	figures.Calls, figures.Reached, figures.Raised = total.Calls, total.Reached, total.Raised
	t.env.figures.add(figures)
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
