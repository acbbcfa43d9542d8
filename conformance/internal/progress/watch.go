package progress

import (
	"maps"
	"slices"
	"time"

	"github.com/opcast/opcast/internal/results/report"
)

// patience is how long a spec runs before a line says so, where no live line shows it. Each further line waits twice as
// long: a kernel that hangs has minutes.
const patience = 30 * time.Second

// openSpec is a spec that runs: since when, and when to tell about it.
type openSpec struct{ since, tell time.Time }

// SpecName is how progress names a check of an op through an adaptor; --only takes it.
func SpecName(op, adaptor, check string) string { return op + " " + adaptor + " " + check }

// began notes that a spec runs.
func (p *Printer) began(spec string, now time.Time) {
	if p.open == nil {
		p.open = map[string]*openSpec{}
	}
	p.open[spec] = &openSpec{now, now.Add(patience)}
}

// Watch tells, from now on, which specs take long.
func (p *Printer) Watch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := make(chan struct{})
	p.watching = end
	go func() {
		for tick := time.Tick(time.Second); ; {
			select {
			case <-end:
				return
			case now := <-tick:
				p.tellLong(now)
			}
		}
	}()
}

// tellLong tells which specs have run for long.
func (p *Printer) tellLong(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, spec := range slices.Sorted(maps.Keys(p.open)) {
		if s := p.open[spec]; !now.Before(s.tell) {
			took := now.Sub(s.since)
			p.print("still running, for %s: %s\n", report.Duration(took.Seconds()), spec)
			s.tell = now.Add(took)
		}
	}
}
