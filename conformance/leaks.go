package conformance

import (
	"encoding/json"
	"fmt"
)

// leakCalls is how many calls have to leave nothing behind.
const leakCalls = 10000

// checkLeaks repeats a right call and a wrong one and looks at what the process has after each round: whatever grows in every
// round is not a cache. Fewer calls are made where they take more than the seconds; zero stands for no limit.
func checkLeaks(seconds float64) func(*T) error {
	return func(t *T) error {
		c, err := t.wrongCase()
		if err != nil {
			return err
		}
		call, err := t.call(t.Caller, c)
		if err != nil {
			return err
		}
		if err := t.leaks(call, c.Name, seconds, false); err != nil {
			return err
		}
		wrong, _, err := t.oneFault()
		if err != nil || wrong == nil {
			return err
		}
		return t.leaks(wrong, "a wrong call", seconds, true)
	}
}

// state is what a process has after a round of calls.
type state struct{ Blocks, Live, References int64 }

// leaks repeats one call.
func (t *T) leaks(call *Call, name string, seconds float64, raises bool) error {
	call = call.clone()
	call.Probe, call.Options = groupEndure+".leaks", map[string]any{"calls": int64(leakCalls), "seconds": seconds}
	result, err := t.direct(t.Caller, call, name)
	if err != nil || result == nil {
		return err
	}
	if result.Error != nil {
		t.Fail(call, name, "raised %s\n%s", result.Error, result.Error.Trace)
		return nil
	}
	var notes struct {
		Raised string
		Calls  int64
		States []state
	}
	text, err := json.Marshal(result.Notes)
	if err == nil {
		err = json.Unmarshal(text, &notes)
	}
	if err != nil || len(notes.States) < 2 {
		return fmt.Errorf("read what a process has: %s: %w", text, err)
	}
	if (notes.Raised != "") != raises {
		t.Fail(call, name, "when repeated, it raised %q", notes.Raised)
	}
	for _, what := range grown(notes.States, notes.Calls) {
		t.Fail(call, name, "%s over %d calls", what, notes.Calls)
	}
	return nil
}

// What a round of calls may leave behind before it counts as a leak. An object is a block; malloc gives 32 bytes at least, and
// half of that is left to caches: JAX 0.7 has one that grows by up to 12 bytes with each call and shrinks after 10,000.
const (
	leakBlocks = 50
	leakBytes  = 1024
	leakRate   = 16
)

// grown says what grew in every round.
func grown(states []state, calls int64) []string {
	rounds := int64(len(states) - 1)
	var out []string
	for _, one := range []struct {
		name  string
		of    func(state) int64
		limit int64
	}{
		{"Python's blocks of memory grow", func(s state) int64 { return s.Blocks }, max(calls/rounds/8, leakBlocks)},
		{"bytes of malloc grow", func(s state) int64 { return s.Live }, max(calls/rounds*leakRate, leakBytes)},
		{"references to the arguments grow", func(s state) int64 { return s.References }, 0},
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
