package check

import (
	"sync"

	"github.com/opcast/opcast/internal/results/report"
)

// Tallies are what the random calls of all ops came to.
type Tallies struct {
	mu   sync.Mutex
	List []report.Random
}

// Add adds the outcome of one op.
func (f *Tallies) Add(r report.Random) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.List = append(f.List, r)
}

// Growth is how much the process grew in the calls of all ops so far.
func (f *Tallies) Growth() (live, resident int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.List {
		live, resident = live+r.Live, resident+r.Resident
	}
	return live, resident
}
