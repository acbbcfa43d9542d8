package run

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/traits"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// A check of what is generated runs with ops that have every trait of those to which it applies, and with fewer than all.
func TestSpread(t *testing.T) {
	ops := example(t)
	caller := calls.StubCaller{CallerName: "torch"}
	for _, one := range []check.Check{
		{ID: "all", Generated: true},
		{ID: "with gradients", Generated: true, Needs: func(op *opdef.Op, _ calls.Caller) error {
			return check.SkipUnless(op.Gradient != nil, "no gradient")
		}},
	} {
		s, chosen, all, applies := newSpread(ops), map[string]bool{}, map[string]bool{}, 0
		count := 0
		for _, op := range ops {
			if one.Needs != nil && one.Needs(op, caller) != nil {
				continue
			}
			applies++
			runs := s.skip(op, caller, &one) == nil
			if runs {
				count++
			}
			for _, name := range traits.Of(op) {
				all[name] = true
				if runs {
					chosen[name] = true
				}
			}
		}
		if len(chosen) != len(all) || count == 0 || count >= applies {
			t.Errorf("%s: %d of %d ops have %d of %d traits", one.ID, count, applies, len(chosen), len(all))
		}
	}
}

// What a kernel may get wrong is tried with every op, and an op that is tested alone is tried with everything.
func TestSpreadLeavesNothingOut(t *testing.T) {
	ops := example(t)
	generated := check.Check{ID: "x", Generated: true}
	for _, op := range ops {
		for name, err := range map[string]error{
			"bare backend": newSpread(ops).skip(op, calls.StubCaller{CallerName: calls.BackendName}, &generated),
			"kernel":       newSpread(ops).skip(op, calls.StubCaller{CallerName: "torch"}, &check.Check{ID: "x"}),
			"alone":        newSpread([]*opdef.Op{op}).skip(op, calls.StubCaller{CallerName: "torch"}, &generated),
			"no spread":    (*spread)(nil).skip(op, calls.StubCaller{CallerName: "torch"}, &generated),
		} {
			if err != nil {
				t.Errorf("%s, %s: %v", op.Name, name, err)
			}
		}
	}
	for _, id := range []string{"value", "shape", "bits", "zero-size", "attrs", "optional", "errors", "grad", "mutated", "out"} {
		if i := slices.IndexFunc(Checks(), func(c check.Check) bool { return c.ID == id }); i < 0 || Checks()[i].Generated {
			t.Errorf("%s has to run with every op through every caller", id)
		}
	}
}

// example are the ops of an example in which most of them have traits of their own.
func example(t *testing.T) []*opdef.Op {
	t.Helper()
	p, findings, err := load.Load(filepath.Join("..", "..", "..", "examples", "inference"))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	return p.Ops
}
