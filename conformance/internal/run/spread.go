package run

import (
	"cmp"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/traits"
	"github.com/opcast/opcast/internal/language/opdef"
)

// spread shares the checks of what is generated among the ops of a run: one is tried with ops that together have every trait
// of those to which it applies.
type spread struct {
	ops    []*opdef.Op
	chosen map[[2]string][]*opdef.Op // by check and caller
}

// newSpread remembers the ops of a run.
func newSpread(ops []*opdef.Op) *spread {
	return &spread{ops: ops, chosen: map[[2]string][]*opdef.Op{}}
}

// skip is the reason why a check is not tried with an op; nil if it is.
func (s *spread) skip(op *opdef.Op, caller calls.Caller, c *check.Check) error {
	if s == nil || !c.Generated || caller.Name() == calls.BackendName {
		return nil
	}
	if calls.IsBare(caller) && c.Group != check.GroupErrors && c.Group != check.GroupDTypes {
		return check.Skip("about what kernels give, which the bare backend shows with the same exports")
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

// choose takes, one after the other, the op that has most of the traits that are still missing, and of several that with the
// fewest traits: it takes the least time.
func (s *spread) choose(caller calls.Caller, c *check.Check) []*opdef.Op {
	missing := map[*opdef.Op][]string{}
	var left, out []*opdef.Op
	for _, op := range s.ops {
		if suits(c, op, caller) {
			left, missing[op] = append(left, op), traits.Of(op)
		}
	}
	slices.SortStableFunc(left, func(a, b *opdef.Op) int { return cmp.Compare(len(missing[a]), len(missing[b])) })
	for len(left) > 0 {
		next := slices.MaxFunc(left, func(a, b *opdef.Op) int { return cmp.Compare(len(missing[a]), len(missing[b])) })
		shown := missing[next]
		if len(shown) == 0 && len(out) > 0 {
			return out
		}
		out = append(out, next)
		for op, names := range missing {
			missing[op] = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(shown, name) })
		}
	}
	return out
}

// suits reports whether a check has something to do with an op through a caller.
func suits(c *check.Check, op *opdef.Op, caller calls.Caller) bool {
	return c.Needs == nil || c.Needs(op, caller) == nil
}
