package transforms

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/transform"
)

var flopsCheck = check.Check{
	ID: "flops", Group: check.GroupTransform,
	Doc:     "a flop counter counts for the op, and for its gradient, what the definitions say",
	Through: check.ThroughAdaptors,
	Needs:   transformed.Offers("flop counter", check.When(func(op *opdef.Op) bool { return op.Flops != nil || op.Gradient != nil && op.Gradient.Flops != nil }, "the definition has no flops")),
	Foreign: check.TransformsGenerated, Run: checkFlops,
}

// checkFlops calls and differentiates under a counter, with every attribute value, and with and without each optional input.
func checkFlops(t *check.T) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	plans := slices.Concat(cases.OptionalPlans(t.Op, d), cases.RankZeroPlans(t.Op, d), cases.AttrPlans(t.Op, d))
	return check.ForEach(t.CasesOf(plans), func(c *cases.Case) error {
		var facts struct{ Flops map[string]int64 }
		p, r, err := transformed.Ask(t, c, "flops", "flops", &facts)
		if err != nil {
			return err
		}
		transformed.Expect(t, c.Name, r.In("", 0), p.Expected())
		if err := expectFlops(t, c, facts.Flops); err != nil || len(p.Wrt) == 0 {
			return err
		}
		plan := transform.GradientOf(t.Op)
		none := make([]*ndarray.Array, len(t.Op.Outputs))
		return expectFlops(t, c.Gradient(plan, none, none), facts.Flops)
	})
}

// expectFlops compares what was counted for the op of a case with its formula; for an op without one, nothing is.
func expectFlops(t *check.T, c *cases.Case, counted map[string]int64) error {
	want, known := int64(0), c.Op.Flops != nil
	if known {
		var err error
		if want, err = c.Flops(); err != nil {
			return err
		}
	}
	got, found := int64(0), false
	for name, n := range counted {
		if registered(name+".default", c.Op.Name) {
			got, found = n, true
		}
	}
	switch {
	case known && !found:
		t.Fail(nil, c.Name, "nothing was counted for %s, want %d operations: %s", c.Op.Name, want, c.Op.Flops.Text)
	case !known && found:
		t.Fail(nil, c.Name, "%d operations were counted for %s, whose definition has no flops", got, c.Op.Name)
	case got != want:
		t.Fail(nil, c.Name, "%d operations were counted for %s, want %d: %s", got, c.Op.Name, want, c.Op.Flops.Text)
	}
	return nil
}
