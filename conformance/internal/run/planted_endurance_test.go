package run

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/checks/endurance"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
)

// plantedEndurance are mutants: the check named must fail.
var plantedEndurance = map[string]struct {
	op, caller, check string
	fake              fake.Framework
}{
	"threads see each other's contents": {"affine", calls.BackendName, "threads", fake.Framework{OnConcurrent: func(thread int, _ *calls.Call, r *calls.Result) {
		if thread == 1 && r.Error == nil {
			fake.Nudge(r)
		}
	}}},
	"bits depend on the number of threads": {"affine", calls.BackendName, "thread-count", fake.Framework{After: when(func(c *calls.Call) bool {
		return c.Probe == endurance.GroupThreadProbes+".number" && c.Options["threads"] == int64(8)
	})}},
	"a framework's threads change bits": {"affine", "fake", "thread-count", fake.Framework{After: when(func(c *calls.Call) bool { return len(c.Inputs) > 0 })}},
	"an error goes to another thread":   {"affine", "fake", "threads", fake.Framework{OnConcurrent: func(_ int, _ *calls.Call, r *calls.Result) { r.Error = nil }}},
	"a valid call gets an error": {"affine", "fake", "threads", fake.Framework{OnConcurrent: func(thread int, _ *calls.Call, r *calls.Result) {
		if thread == 0 {
			r.Error = &calls.CallError{Class: "ValueError", Text: "affine: x: expected something else"}
		}
	}}},
	"a forked child hangs": {"affine", "fake", "fork", fake.Framework{OnChild: func(string, *calls.Call, *calls.Result) string { return "no answer within 60 s" }}},
	"a child computes otherwise": {"affine", "fake", "spawn", fake.Framework{OnChild: func(method string, _ *calls.Call, r *calls.Result) string {
		if method == "spawn" && r.Error == nil {
			fake.Nudge(r)
		}
		return ""
	}}},
	"a child forgets what is wrong": {"affine", "fake", "fork", fake.Framework{OnChild: func(_ string, _ *calls.Call, r *calls.Result) string {
		r.Error = nil
		return ""
	}}},
	"a thread says nothing": {"affine", "fake", "threads", fake.Framework{OnConcurrent: func(thread int, _ *calls.Call, r *calls.Result) {
		if thread == 1 {
			r.Unsupported = fake.ThreadGone
		}
	}}},
	"an object leaks":       {"affine", "fake", "leaks", fake.Framework{KeptMemory: func(s *endurance.ProcessState, round int64, _ string) { s.Blocks += 3000 * round }}},
	"memory leaks":          {"affine", "fake", "leaks", fake.Framework{KeptMemory: func(s *endurance.ProcessState, round int64, _ string) { s.Live += 32 * 3000 * round }}},
	"a little memory leaks": {"affine", "fake", "leaks", fake.Framework{KeptMemory: func(s *endurance.ProcessState, round int64, _ string) { s.Live += 8 * 3000 * round }}},
	"a reference leaks":     {"accumulate", calls.BackendName, "leaks-all", fake.Framework{KeptMemory: func(s *endurance.ProcessState, round int64, _ string) { s.References += round }}},
	"a call wants more memory": {"affine", calls.BackendName, "working-memory", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if c.Probe == endurance.GroupEnduranceProbes+".bounded" {
			r.Notes = map[string]any{"short": "MemoryError: affine: out of memory"}
		}
	}}},
	"errors are kept": {"affine", "fake", "leaks", fake.Framework{KeptMemory: func(s *endurance.ProcessState, round int64, raised string) {
		if raised != "" {
			s.Live += 200 * 3000 * round
		}
	}}},
	"an invalid call stops raising": {"affine", "fake", "leaks", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if strings.HasPrefix(c.Probe, endurance.GroupEnduranceProbes) {
			r := &calls.Result{}
			fake.Endure(r, &fake.Framework{}, c)
			return r, nil
		}
		return nil, nil
	}}},
	"a copy computes otherwise": {"affine", calls.BackendName, "copies", fake.Framework{After: when(func(c *calls.Call) bool {
		return c.Probe == endurance.GroupEnduranceProbes+".copies"
	})}},
}

func TestPlantedEnduranceIsFound(t *testing.T) {
	for name, planted := range plantedEndurance {
		t.Run(name, func(t *testing.T) {
			caller := planted.fake
			caller.CallerName = planted.caller
			if status := fakeRunOf(t, planted.op, planted.check, &caller, nil); !strings.Contains(status, "fail: ") {
				t.Error(status)
			}
		})
	}
}

// A cache that fills in the first rounds is no leak; what grows in every round is.
func TestGrown(t *testing.T) {
	for name, test := range map[string]struct {
		blocks []int64
		want   int
	}{
		"flat": {[]int64{100, 101, 100, 101}, 0}, "a cache": {[]int64{100, 9000, 9001, 9001}, 0}, "a slow leak": {[]int64{100, 600, 1100, 1600}, 1},
		"falls": {[]int64{9000, 10, 10, 10}, 0},
	} {
		var states []endurance.ProcessState
		for _, n := range test.blocks {
			states = append(states, endurance.ProcessState{Blocks: n})
		}
		if got := endurance.Growth(states, 9000, 2); len(got) != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A framework may have caches that grow by as much as its worker says.
func TestLeakRate(t *testing.T) {
	var states []endurance.ProcessState
	for round := range int64(4) {
		states = append(states, endurance.ProcessState{Live: 12 * 3000 * round})
	}
	if few, many := endurance.Growth(states, 9000, 2), endurance.Growth(states, 9000, 16); len(few) != 1 || len(many) != 0 {
		t.Errorf("with 2 bytes a call %v, with 16 %v", few, many)
	}
}
