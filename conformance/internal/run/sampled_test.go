package run

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Sampled are the lines of Scope.Only for a short run: every check through every caller, with some of the ops to which it applies.
func Sampled(ops []*opdef.Op) (lines []string) {
	spread := newSpread(ops)
	callers := append([]string{calls.DefinitionName, calls.BackendName, calls.NativeName, calls.OpCallName}, framework.Names()...)
	for j, c := range Checks() {
		for k, name := range callers {
			if !c.RunsThrough(name, false) {
				continue
			}
			chosen, step := spread.sample(&worker.Process{CallerName: name}, &c)
			for i := (j + k) % min(step, len(chosen)); i < len(chosen); i += step {
				lines = append(lines, chosen[i].Name+" "+name+" "+c.ID)
			}
		}
	}
	return lines
}

// sample are ops for a check, of which every so many suffice: `make conformance` has all. What kernels do is tried with every other op
// through the bare backend: the other callers add what is theirs. Some checks apply only to callers that have told what they can do: they
// get ops with all traits.
func (s *spread) sample(caller calls.Caller, c *check.Check) (ops []*opdef.Op, step int) {
	applies := slices.DeleteFunc(slices.Clone(s.ops), func(op *opdef.Op) bool { return !suits(c, op, caller) })
	bare := caller.Name() == calls.BackendName
	switch {
	case caller.Name() == calls.DefinitionName && len(applies) > 0:
		return applies, 2
	case len(applies) == 0:
		anyone := *c
		anyone.Needs = nil
		return s.choose(caller, &anyone), 5
	case bare && !c.Generated:
		return applies, 2
	case c.Generated && !bare:
		return s.choose(caller, c), 8
	case bare:
		return applies, 8
	}
	return applies, 30
}

// A short run has each check through each caller with an op that suits both, where there is one.
func TestSampled(t *testing.T) {
	ops := map[string]*opdef.Op{}
	for _, op := range example(t) {
		ops[op.Name] = op
	}
	chosen := map[string][]string{} // by "caller check"
	for _, line := range Sampled(slices.Collect(maps.Values(ops))) {
		op, rest, _ := strings.Cut(line, " ")
		chosen[rest] = append(chosen[rest], op)
	}
	for _, c := range Checks() {
		for _, name := range append([]string{calls.BackendName, calls.NativeName, calls.OpCallName}, framework.Names()...) {
			right := func(op string) bool { return suits(&c, ops[op], &worker.Process{CallerName: name}) }
			possible := c.RunsThrough(name, false) && slices.ContainsFunc(slices.Collect(maps.Keys(ops)), right)
			if possible && !slices.ContainsFunc(chosen[name+" "+c.ID], right) {
				t.Errorf("%s through %s runs with no op", c.ID, name)
			}
		}
	}
}
