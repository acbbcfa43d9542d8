package endurance

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

// GroupThreadProbes are calls with a number of threads that the option "threads" gives. Only the bare backend has them.
const GroupThreadProbes = "threads"

var threadCountCheck = check.Check{
	ID: "thread-count", Group: check.GroupEndurance, Generated: true,
	Doc:   "large calls give the same bits on one thread, on several of the library's, and on those of the framework",
	Needs: hasThreadCount, Foreign: check.AboutGenerated, Run: check.WithKernelsOnly(checkThreadCount),
}

func hasThreadCount(op *opdef.Op, caller calls.Caller) error {
	if calls.IsBare(caller) {
		if err := check.IsBackend(op, caller); err != nil {
			return err
		}
	}
	return check.SkipUnless(op.Deterministic, "the definition does not promise the same bits")
}

// manyThreads are the numbers of threads to try beside one: fewer than the chunks of a large call, and not only powers of two.
var manyThreads = []int64{3, 8}

// checkThreadCount compares large calls with those that the bare backend makes on one thread. A framework makes them as it
// does, on its own threads if it has several.
func checkThreadCount(t *check.T) error {
	backend := t.Env.Caller(calls.BackendName)
	if backend == nil || !check.OffersProbe(backend, GroupThreadProbes, "number") {
		return check.Skip("the backend cannot be called")
	}
	plans := func(d cases.DTypes) []cases.Plan { return cases.ChunkedPlans(t.Op, d) }
	return t.EachCase(plans, func(c *cases.Case) error {
		want, err := callOnThreads(t, backend, c, 1)
		if err != nil {
			return err
		}
		if t.Caller.Name() != calls.BackendName {
			return t.ExpectCaseBits(c, want)
		}
		for _, n := range manyThreads {
			if _, err := callOnThreads(t, t.Caller, c, n, want); check.Proceed(err) != nil {
				return err
			}
		}
		return nil
	})
}

// callOnThreads makes the call of a case on so many threads, and expects the given results.
func callOnThreads(t *check.T, caller calls.Caller, c *cases.Case, n int64, want ...*calls.Result) (*calls.Result, error) {
	call, err := t.PlainCall(caller, c)
	if err != nil {
		return nil, err
	}
	call.Probe, call.Options = GroupThreadProbes+".number", map[string]any{"threads": n}
	name := fmt.Sprintf("%d threads, %s", n, c.Name)
	got, err := t.CallWith(caller, call, name)
	if err != nil {
		return nil, err
	}
	if got = t.ExpectSuccessBy(caller, call, name, got); got == nil {
		return nil, check.ErrAccounted
	}
	for _, w := range want {
		t.ExpectSameBits(call, name, got, w)
	}
	return got, nil
}
