package calls

import (
	"context"

	"github.com/opcast/opcast/internal/system/tvmffi"
)

// RandomTally counts what random calls did.
type RandomTally struct {
	// Calls were made, Reached of them started a kernel.
	Calls   int64 `json:"calls"`
	Reached int64 `json:"reached"`
	// Raised counts errors by class.
	Raised map[string]int64 `json:"raised"`
	// Failed are the numbers of calls that did what they must not do, a few of them, and Texts what that was.
	Failed []int64  `json:"failed"`
	Texts  []string `json:"texts"`
}

// Count adds the outcome of one call.
func (r *RandomTally) Count(result *Result) {
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

// Add adds another tally.
func (r *RandomTally) Add(other *RandomTally) {
	r.Calls, r.Reached = r.Calls+other.Calls, r.Reached+other.Reached
	if r.Raised == nil {
		r.Raised = map[string]int64{}
	}
	for class, n := range other.Raised {
		r.Raised[class] += n
	}
}

// RandomBatcher is a caller whose process makes random calls by itself.
type RandomBatcher interface {
	// Batch makes the calls from number `from`. After a crash, CallInProgress tells at which number it was; -1 if at none.
	Batch(ctx context.Context, op string, seed uint64, from, count int64) (*RandomTally, error)
	CallInProgress() int64
	// Usage measures the memory of the process.
	Usage(ctx context.Context) (tvmffi.Memory, error)
}

// RandomCaller is a caller that makes random calls by the batch.
type RandomCaller interface{ RandomBatcher() RandomBatcher }
