package conformance

import (
	"context"
	"strings"
	"testing"
)

// threadGone marks a result that never comes.
const threadGone = "threadGone"

// Together makes the calls one after the other, in the order of the threads.
func (f *fake) Together(ctx context.Context, calls []*Call, repeat int) ([][]*Result, error) {
	var out [][]*Result
	for i, call := range calls {
		var list []*Result
		for range min(repeat, 2) {
			r, err := f.Call(ctx, call)
			if err != nil {
				return nil, err
			}
			if f.together != nil {
				f.together(i, call, r)
			}
			if r.Unsupported == threadGone {
				continue
			}
			list = append(list, r)
		}
		out = append(out, list)
	}
	return out, nil
}

// Child makes the call.
func (f *fake) Child(ctx context.Context, method string, call *Call) (*Result, string, error) {
	r, err := f.Call(ctx, call)
	if f.child != nil && err == nil {
		if died := f.child(method, call, r); died != "" {
			return nil, died, nil
		}
	}
	return r, "", err
}

// endure adds what the probes of groupEndure note: a process that keeps what it has.
func (r *Result) endure(f *fake, call *Call) {
	if call.Probe != groupEndure+".leaks" {
		return
	}
	raised, states := "", []any{}
	if r.Error != nil {
		raised = r.Error.Class
	}
	r.Error, r.Outputs = nil, nil
	for round := range 4 {
		one := state{Blocks: 1000 + int64(round), Live: 5000, References: 3}
		if f.keeps != nil {
			f.keeps(&one, int64(round), raised)
		}
		states = append(states, map[string]any{"blocks": one.Blocks, "live": one.Live, "references": one.References})
	}
	r.Notes = map[string]any{"raised": raised, "calls": 9000, "states": states}
}

// plantedEndurance are mutants: the check named must fail.
var plantedEndurance = map[string]struct {
	op, caller, check string
	fake              fake
}{
	"threads see each other's contents": {"affine", backendName, "threads", fake{together: func(thread int, _ *Call, r *Result) {
		if thread == 1 && r.Error == nil {
			nudge(r)
		}
	}}},
	"an error goes to another thread": {"affine", "fake", "threads", fake{together: func(_ int, _ *Call, r *Result) { r.Error = nil }}},
	"a right call gets an error": {"affine", "fake", "threads", fake{together: func(thread int, _ *Call, r *Result) {
		if thread == 0 {
			r.Error = &CallError{Class: "ValueError", Text: "affine: x: expected something else"}
		}
	}}},
	"a forked child hangs": {"affine", "fake", "fork", fake{child: func(string, *Call, *Result) string { return "no answer within 60 s" }}},
	"a child computes otherwise": {"affine", "fake", "spawn", fake{child: func(method string, _ *Call, r *Result) string {
		if method == "spawn" && r.Error == nil {
			nudge(r)
		}
		return ""
	}}},
	"a child forgets what is wrong": {"affine", "fake", "fork", fake{child: func(_ string, _ *Call, r *Result) string {
		r.Error = nil
		return ""
	}}},
	"a thread says nothing": {"affine", "fake", "threads", fake{together: func(thread int, _ *Call, r *Result) {
		if thread == 1 {
			r.Unsupported = threadGone
		}
	}}},
	"an object leaks":       {"affine", "fake", "leaks", fake{keeps: func(s *state, round int64, _ string) { s.Blocks += 3000 * round }}},
	"memory leaks":          {"affine", "fake", "leaks", fake{keeps: func(s *state, round int64, _ string) { s.Live += 32 * 3000 * round }}},
	"a little memory leaks": {"affine", "fake", "leaks", fake{keeps: func(s *state, round int64, _ string) { s.Live += 8 * 3000 * round }}},
	"a reference leaks":     {"accumulate", backendName, leaksAllCheck.ID, fake{keeps: func(s *state, round int64, _ string) { s.References += round }}},
	"errors are kept": {"affine", "fake", "leaks", fake{keeps: func(s *state, round int64, raised string) {
		if raised != "" {
			s.Live += 200 * 3000 * round
		}
	}}},
	"a wrong call stops raising": {"affine", "fake", "leaks", fake{before: func(c *Call) (*Result, error) {
		if strings.HasPrefix(c.Probe, groupEndure) {
			r := &Result{}
			r.endure(&fake{}, c)
			return r, nil
		}
		return nil, nil
	}}},
	"a copy computes otherwise": {"affine", backendName, "copies", fake{after: when(func(c *Call) bool {
		return c.Probe == groupEndure+".copies"
	})}},
}

func TestPlantedEnduranceIsFound(t *testing.T) {
	for name, fault := range plantedEndurance {
		t.Run(name, func(t *testing.T) {
			caller := fault.fake
			caller.name = fault.caller
			if status := fakeRunOf(t, fault.op, fault.check, &caller, nil); !strings.Contains(status, "fail: ") {
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
		var states []state
		for _, n := range test.blocks {
			states = append(states, state{Blocks: n})
		}
		if got := grown(states, 9000, 2); len(got) != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A framework may have caches that grow by as much as its worker says.
func TestLeakRate(t *testing.T) {
	var states []state
	for round := range int64(4) {
		states = append(states, state{Live: 12 * 3000 * round})
	}
	if few, many := grown(states, 9000, 2), grown(states, 9000, 16); len(few) != 1 || len(many) != 0 {
		t.Errorf("with 2 bytes a call %v, with 16 %v", few, many)
	}
}
