package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/results/report"
)

// What terminals understand: to delete the line of the cursor, and to cut a line at the edge for a while instead of
// breaking it, so that nobody has to know how wide they are.
const (
	eraseLine = "\r\x1b[2K"
	cutLines  = "\x1b[?7l"
	wrapLines = "\x1b[?7h"
)

// redraw is how often the live line is drawn: specs come and go faster than anyone reads.
const redraw = 200 * time.Millisecond

// liveLine is the state of a run in one line.
type liveLine struct {
	started     time.Time
	total, done int
	counts      report.Counts
	// spec is the one that began last; drawn is what the terminal shows.
	spec, drawn string
	stop        chan struct{}
}

const barWidth = 20

// text draws the line: how much is done, the counts, the time, the running spec.
func (l *liveLine) text(now time.Time) string {
	part := 0
	if l.total > 0 {
		part = min(l.done, l.total) * barWidth / l.total
	}
	counts := l.counts.String()
	if counts == "" {
		counts = "starting"
	}
	seconds := int(now.Sub(l.started).Seconds())
	return fmt.Sprintf("%s%s%s %d/%d checks: %s · %d:%02d · %s%s", cutLines, strings.Repeat("━", part),
		strings.Repeat("─", barWidth-part), l.done, l.total, counts, seconds/60, seconds%60, l.spec, wrapLines)
}

// Start draws the live line of a run of so many specs from now on.
func (p *Printer) Start(total int, started time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &liveLine{started: started, total: total, stop: make(chan struct{})}
	p.live = l
	p.print("")
	go func() {
		for tick := time.Tick(redraw); ; {
			select {
			case <-l.stop:
				return
			case <-tick:
				p.draw()
			}
		}
	}()
}

// draw shows the live line as it is now.
func (p *Printer) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live != nil && p.live.text(time.Now()) != p.live.drawn {
		p.print("")
	}
}

// Running says which spec has begun.
func (p *Printer) Running(spec string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began(spec, time.Now())
	if p.live != nil {
		p.live.spec = spec
	}
}

// Finished counts the results of a spec.
func (p *Printer) Finished(results []report.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(results) > 0 {
		delete(p.open, SpecName(results[0].Op, results[0].Adaptor, results[0].Check))
	}
	if p.live == nil {
		return
	}
	p.live.done++
	for i := range results {
		p.live.counts.Add(&results[i])
	}
}

// Stop takes the live line away.
func (p *Printer) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watching != nil {
		close(p.watching)
		p.watching = nil
	}
	if p.live == nil {
		return
	}
	close(p.live.stop)
	p.live = nil
	fmt.Fprint(p.Out, eraseLine)
}
