package values

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var propertiesCheck = check.Check{
	ID: "properties", Group: check.GroupValues, Generated: true,
	Doc:   "the statements under `properties` in the definition hold for the results",
	Needs: hasProperties, Foreign: check.Judges, Run: checkProperties,
}

// hasProperties holds where the author says something of results. An op of lists has as many results as a call gives it.
func hasProperties(op *opdef.Op, _ calls.Caller) error {
	if op.HasLists() {
		return check.Unsupported("the results of an op with lists have no names")
	}
	return check.SkipUnless(op.Defines("properties"), "the definition has no properties")
}

// checkProperties calls an op with all sizes, attributes and optional inputs, and has the author's function look at each call.
func checkProperties(t *check.T) error {
	judge, ok := t.Env.Oracle.(oracle.PropertyOracle)
	if !ok {
		return check.Unsupported("nobody runs the author's Python here")
	}
	plans := func(d cases.DTypes) []cases.Plan {
		return slices.Concat(cases.ValuePlans(t.Op, d), cases.SizePlans(t.Op, nil, d), cases.AttrPlans(t.Op, d), cases.ZeroPlans(t.Op, d))
	}
	return t.EachCase(plans, func(c *cases.Case) error {
		call, result, err := t.RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		arrays := make([]*ndarray.Array, len(result.Outputs))
		for i, o := range result.Existing() {
			arrays[i] = o.Array
		}
		text, err := judge.Properties(t.Ctx, c, arrays)
		if text != "" {
			t.Fail(call, c.Name, "properties of %s: %s", t.Op.Name, text)
		}
		return err
	})
}
