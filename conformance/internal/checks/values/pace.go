package values

import (
	"math"
	"time"
)

// pace says which of ever longer calls are likely to be done in time: a kernel that others wrote may be slow.
type pace struct {
	patience     time.Duration
	before, last timed
}

// timed is a length, and what a call of that length took.
type timed struct {
	length int64
	took   time.Duration
}

// allows estimates what a longer call takes from the last two: how much longer the last one took tells linear growth from
// quadratic. What takes less than some milliseconds tells nothing.
func (p *pace) allows(length int64) bool { return p.expected(length) <= p.patience }

func (p *pace) expected(length int64) time.Duration {
	before, last := p.before, p.last
	if last.length == 0 {
		return 0
	}
	exponent := 1.0
	if before.length > 0 && last.took > 10*time.Millisecond {
		slope := math.Log(float64(last.took)/float64(before.took)) / math.Log(float64(last.length)/float64(before.length))
		exponent = min(max(slope, 1), 3)
	}
	return time.Duration(float64(last.took) * math.Pow(float64(length)/float64(last.length), exponent))
}

// time does what makes a call of some length.
func (p *pace) time(length int64, do func() error) error {
	begin := time.Now()
	err := do()
	p.before, p.last = p.last, timed{length, time.Since(begin)}
	return err
}
