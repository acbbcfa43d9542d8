package check

import (
	"sync"

	"github.com/opcast/opcast/internal/report"
)

// opTallies are what the random calls of all ops came to.
type opTallies struct {
	mu   sync.Mutex
	List []report.Random
}

func (f *opTallies) Add(r report.Random) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.List = append(f.List, r)
}

// Growth is how much the process grew in the calls of all ops so far.
func (f *opTallies) Growth() (live, resident int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.List {
		live, resident = live+r.Live, resident+r.Resident
	}
	return live, resident
}
