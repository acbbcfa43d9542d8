package memory

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var freshOutputsCheck = check.Check{
	ID: "fresh-outputs", Group: check.GroupAliasing, Generated: true,
	Doc:     "outputs share memory with nothing",
	Through: check.ThroughAdaptors, Foreign: check.Judges, Run: check.WithFewerDTypes(checkFresh),
}

// checkFresh expects outputs in memory of their own.
func checkFresh(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		call, result, err := t.RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		inputs := len(call.Tensors()) - len(call.GivenOutputs()) - len(call.Scratch)
		for i, o := range result.Existing() {
			for k, span := range result.Spans[:inputs] {
				if overlap(o.Span, span) && (o.ArgumentIndex != k || cases.Slots(t.Op)[i].Input < 0) {
					t.Fail(call, c.Name, "%s shares memory with array argument %d", cases.Slots(t.Op)[i].Name, k)
				}
			}
			for k, other := range result.Existing() {
				if k < i && overlap(o.Span, other.Span) {
					t.Fail(call, c.Name, "%s shares memory with %s", cases.Slots(t.Op)[i].Name, cases.Slots(t.Op)[k].Name)
				}
			}
		}
		return nil
	})
}

func overlap(a, b [2]uint64) bool { return a[0] < b[1] && b[0] < a[1] }
