package run

import (
	"fmt"
	"slices"
	"sync"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/progress"
	"github.com/opcast/opcast/internal/language/opdef"
)

// How many checks of an op through a caller may hang, and how many may end their process, before its other checks are skipped:
// each of them costs a call's time limit, or the start of a process.
const (
	hangsBorne   = 1
	crashesBorne = 3
)

// deaths counts the checks that hung or ended processes. What happens to the library's own callers is no matter of an
// adaptor: it counts for all callers.
type deaths struct {
	mu    sync.Mutex
	count map[deathKey]int
	// first names the first of those checks.
	first map[deathKey]string
}

// deathKey is an op and a caller; an empty caller stands for all of the library's own.
type deathKey struct {
	op, caller string
	hung       bool
}

// key is where deaths of an op through a caller are counted.
func key(op *opdef.Op, caller calls.Caller, hung bool) deathKey {
	k := deathKey{op: op.Name, caller: caller.Name(), hung: hung}
	if calls.IsBare(caller) {
		k.caller = ""
	}
	return k
}

// note counts what happened in a check.
func (d *deaths) note(op *opdef.Op, caller calls.Caller, c *check.Check, t *check.T) {
	died, hung := t.Died()
	if died == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == nil {
		d.count, d.first = map[deathKey]int{}, map[deathKey]string{}
	}
	k := key(op, caller, hung)
	if d.count[k]++; d.count[k] == 1 {
		d.first[k] = progress.SpecName(op.Name, caller.Name(), c.ID)
	}
}

// reason says why the other checks of an op through a caller are skipped; empty if they are not.
func (d *deaths) reason(op *opdef.Op, caller calls.Caller) string {
	if caller.Name() == calls.DefinitionName {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, hung := range []bool{true, false} {
		borne, what := crashesBorne, fmt.Sprintf("%d checks of the op ended their process", crashesBorne)
		if hung {
			borne, what = hangsBorne, "a call of the op hung"
		}
		own := key(op, caller, hung)
		for _, k := range slices.Compact([]deathKey{{op: op.Name, hung: hung}, own}) {
			if d.count[k] >= borne {
				return fmt.Sprintf("%s before: %s", what, d.first[k])
			}
		}
	}
	return ""
}
