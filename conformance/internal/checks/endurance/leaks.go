package endurance

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
)

var leaksCheck = check.Check{
	ID: "leaks", Group: check.GroupEndurance, Generated: true,
	Doc:   "memory, objects and references are flat over 10,000 calls and 10,000 refused ones; of slow calls as many as fit in 0.2 s, at least 300",
	Needs: check.HasWatchProbe(GroupEnduranceProbes, "leaks", nil), Foreign: check.Judges, Run: checkLeaks(0.2),
}

var leaksAllCheck = check.Check{
	ID: "leaks-all", Group: check.GroupEndurance, Profile: check.ProfileExtended,
	Doc:   "memory, objects and references are flat over 10,000 calls and 10,000 refused ones, however long that takes",
	Needs: check.HasWatchProbe(GroupEnduranceProbes, "leaks", nil), Foreign: check.Judges, Run: checkLeaks(0),
}

// leakCalls is how many calls have to leave nothing behind.
const leakCalls = 10000

// checkLeaks repeats a valid call and a wrong one and looks at what the process has after each round: whatever grows in every
// round is not a cache. Fewer calls are made where they take more than the seconds; zero stands for no limit.
func checkLeaks(seconds float64) func(*check.T) error {
	return func(t *check.T) error {
		c, err := t.ValidCase()
		if err != nil {
			return err
		}
		call, err := t.PlainCall(t.Caller, c)
		if err != nil {
			return err
		}
		if err := check.Proceed(checkGrowth(t, call, c.Name, seconds, false)); err != nil {
			return err
		}
		wrong, _, err := t.OneInvalidCall()
		if err != nil || wrong == nil {
			return err
		}
		return checkGrowth(t, wrong, "an invalid call", seconds, true)
	}
}

// ProcessState is what a process has after a round of calls.
type ProcessState struct{ Blocks, Live, References int64 }

// checkGrowth repeats one call, and once more if anything grew: a leak grows again, what threads of the framework clear away late
// does not.
func checkGrowth(t *check.T, call *calls.Call, name string, seconds float64, raises bool) error {
	call = call.Clone()
	call.Probe, call.Options = GroupEnduranceProbes+".leaks", map[string]any{"calls": int64(leakCalls), "seconds": seconds}
	var notes leakNotes
	var grown []string
	for range 2 {
		result, err := t.CallAsIs(t.Caller, call, name)
		if err != nil {
			return err
		}
		if result.Error != nil {
			t.Fail(call, name, "raised %s\n%s", result.Error, result.Error.Trace)
			return nil
		}
		if notes, err = readLeaks(result.Notes); err != nil {
			return err
		}
		if grown = Growth(notes.States, notes.Calls, calls.AbilitiesOf(t.Caller).LeakRate); len(grown) == 0 {
			break
		}
	}
	t.CurrentRow().Note = notes.Unseen
	if (notes.Raised != "") != raises {
		t.Fail(call, name, "when repeated, it raised %q", notes.Raised)
	}
	for _, what := range grown {
		t.Fail(call, name, "%s over %d calls", what, notes.Calls)
	}
	return nil
}

// leakNotes are what the probe tells: the class that the calls raised, and what the process had after each round. Unseen says
// what nobody can look at here.
type leakNotes struct {
	Raised, Unseen string
	Calls          int64
	States         []ProcessState
}

func readLeaks(told map[string]any) (leakNotes, error) {
	var notes leakNotes
	text, err := json.Marshal(told)
	if err == nil {
		err = json.Unmarshal(text, &notes)
	}
	if err == nil && len(notes.States) < 2 {
		err = errors.New("expected two states or more")
	}
	if err != nil {
		return notes, fmt.Errorf("read what a process has: %s: %w", text, err)
	}
	return notes, nil
}

// What a round of calls may leave behind before it counts as a leak, beside what the framework's caches may take. An object
// is a block, and malloc gives 32 bytes at least.
const (
	leakBlocks = 50
	leakBytes  = 1024
)

// Growth says what grew in every round; rate is how many bytes of malloc a call may leave.
func Growth(states []ProcessState, calls, rate int64) []string {
	rounds := int64(len(states) - 1)
	var out []string
	for _, one := range []struct {
		name  string
		of    func(ProcessState) int64
		limit int64
	}{
		{"Python's blocks of memory grow", func(s ProcessState) int64 { return s.Blocks }, max(calls/rounds/8, leakBlocks)},
		{"bytes of malloc grow", func(s ProcessState) int64 { return s.Live }, max(calls/rounds*rate, leakBytes)},
		{"references to the arguments grow", func(s ProcessState) int64 { return s.References }, 0},
	} {
		every, list := true, []int64{one.of(states[0])}
		for i, s := range states[1:] {
			every = every && one.of(s)-one.of(states[i]) > one.limit
			list = append(list, one.of(s))
		}
		if every {
			out = append(out, fmt.Sprintf("%s, from %v", one.name, list))
		}
	}
	return out
}
