package values

import (
	"testing"
	"time"
)

// What grew as its length did is expected to go on so, and what grew as its square, too, whatever the steps between lengths.
func TestExpectedTimes(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		before, last timed
		length       int64
		want         time.Duration
	}{
		{timed{}, timed{}, 1 << 10, 0},
		{timed{}, timed{1 << 10, 20 * ms}, 1 << 12, 80 * ms},
		{timed{1 << 10, 20 * ms}, timed{1 << 12, 80 * ms}, 1 << 16, 1280 * ms},
		{timed{1 << 12, 20 * ms}, timed{1 << 16, 320 * ms}, 1 << 20, 5120 * ms},
		{timed{1 << 10, 20 * ms}, timed{1 << 12, 320 * ms}, 1 << 16, 256 * 320 * ms},
		{timed{1 << 10, 1 * ms}, timed{1 << 12, 9 * ms}, 1 << 16, 16 * 9 * ms},
	} {
		p := pace{before: test.before, last: test.last}
		if got := p.expected(test.length).Round(ms); got != test.want {
			t.Errorf("%v, %v, then %d: got %s, want %s", test.before, test.last, test.length, got, test.want)
		}
	}
}
