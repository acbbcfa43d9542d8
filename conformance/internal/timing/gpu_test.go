package timing

import (
	"maps"
	"os/exec"
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
)

// gpuClock holds what is timed on a GPU against a clock that only calls move: a replay takes as long as its calls, the first call of
// a set less than the first time that the set is used, and one that cannot be captured is timed call by call.
const gpuClock = `
from opcast_worker import gpu_clock


class Clock:
    copied = 8

    def __init__(self):
        self.now = 0
        self.log = []

    def event(self):
        return self.now

    def between(self, first, last):
        return last - first

    def captured(self, calls):
        if refuses:
            raise RuntimeError("operation not permitted\nwhen a stream is capturing")
        self.log.append(len(calls))
        return lambda: [call() for call in calls]

    def copies(self):
        return [self.call(90_000), self.call(60_000), self.call(70_000)]

    def product(self):
        return self.call(50_000), 5e9

    def wait(self):
        pass

    def call(self, took):
        def call():
            self.now += took
            self.log.append(took)

        return call


refuses, clock = False, Clock()
timed = gpu_clock.replayed(clock, [clock.call(3000), clock.call(5000)])
assert timed.warm() > 0
assert timed.replay is not None and timed.length == gpu_clock.CALLS, timed.length
assert timed.sample() == 4000.0, timed.sample()
assert set(clock.log[-256:]) == {3000, 5000}  # all sets take turns
assert gpu_clock.told(timed)["eager"] == ""

assert gpu_clock.fastest_copy(clock).sample() == 60_000
assert gpu_clock.peak(clock) == [1e5] * 7

refuses = True
alone = gpu_clock.replayed(clock, [clock.call(2_000_000)])
assert alone.warm() == alone.sample() == 2_000_000 and alone.replay is None
assert gpu_clock.told(alone)["eager"] == "RuntimeError: operation not permitted"

assert gpu_clock.sets_of(1) == gpu_clock.SETS and gpu_clock.sets_of(1 << 40) == 1
`

func TestGPUClock(t *testing.T) {
	dir := t.TempDir()
	if err := worker.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), python(t), "-B", "-c", gpuClock)
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Rehearsals take the smallest sizes that the definition allows.
func TestSmall(t *testing.T) {
	c := base(t, "accumulate")
	op := *c.Op
	large := opdef.Workload{Name: "large", Sizes: map[string]int64{}, Batch: []int64{1000}, DTypes: map[string]string{}, Attrs: map[string]any{}}
	for name := range c.Sizes {
		large.Sizes[name] = 1000
	}
	for v, d := range c.DTypes {
		large.DTypes[v] = d
	}
	op.Workloads = []opdef.Workload{large}
	r := &run{Options: Options{Rehearse: true, Device: "cpu"}}
	small, made, err := r.madeOf(workload.Calls(&op)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range small.Sizes {
		if n > smallest || made.Sizes[name] != n {
			t.Errorf("%s = %d, and %d in the call", name, n, made.Sizes[name])
		}
	}
	if large.Sizes[slices.Collect(maps.Keys(large.Sizes))[0]] != 1000 {
		t.Error("the workload itself has changed")
	}
}
