package progress

import (
	"bytes"
	"testing"
	"time"

	"github.com/opcast/opcast/internal/results/report"
)

// Where there is no live line, a kernel that hangs is told, less and less often; what has ended is not.
func TestLongSpecs(t *testing.T) {
	var out bytes.Buffer
	p := &Printer{Out: &out}
	start := time.Now()
	p.mu.Lock()
	p.began("add numpy value", start)
	p.began("add numpy attrs", start)
	p.mu.Unlock()
	p.Finished([]report.Result{{Op: "add", Adaptor: "numpy", Check: "attrs"}})
	for second := range 130 {
		p.tellLong(start.Add(time.Duration(second) * time.Second))
	}
	want := "still running, for 30 s: add numpy value\nstill running, for 1 min 0 s: add numpy value\n" +
		"still running, for 2 min 0 s: add numpy value\n"
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}
