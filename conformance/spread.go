package conformance

import (
	"cmp"
	"slices"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/conformance/traits"
	"github.com/opcast/opcast/internal/opdef"
)

// spread shares the checks of what is generated among the ops of a run: one is tried with ops that together have every trait
// of those to which it applies.
type spread struct {
	ops    []*opdef.Op
	chosen map[[2]string][]*opdef.Op // by check and caller
}

// newSpread remembers the ops of a run, those with the most traits first: the fewer are needed.
func newSpread(ops []*opdef.Op) *spread {
	s := &spread{ops: slices.Clone(ops), chosen: map[[2]string][]*opdef.Op{}}
	slices.SortStableFunc(s.ops, func(a, b *opdef.Op) int { return cmp.Compare(len(traits.Of(b)), len(traits.Of(a))) })
	return s
}

// skip is the reason why a check is not tried with an op; nil if it is.
func (s *spread) skip(op *opdef.Op, caller calls.Caller, c *check.Check) error {
	if s == nil || !c.Generated || caller.Name() == calls.BackendName {
		return nil
	}
	key := [2]string{c.ID, caller.Name()}
	if _, ok := s.chosen[key]; !ok {
		s.chosen[key] = s.choose(caller, c)
	}
	if slices.Contains(s.chosen[key], op) {
		return nil
	}
	return check.Skip("follows from the definition, and other ops of this run have each of its traits: opcast test %s", op.Name)
}

// choose takes each op that has a trait which none before it has.
func (s *spread) choose(caller calls.Caller, c *check.Check) []*opdef.Op {
	out, seen := []*opdef.Op{}, map[string]bool{}
	for _, op := range s.ops {
		if c.Needs != nil && c.Needs(op, caller) != nil {
			continue
		}
		before := len(seen)
		for _, name := range traits.Of(op) {
			seen[name] = true
		}
		if len(seen) > before {
			out = append(out, op)
		}
	}
	return out
}
