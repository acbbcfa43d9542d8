package values

import (
	"errors"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var largeIntegersCheck = check.Check{
	ID: "large-integers", Group: check.GroupValues, Generated: true, Profile: check.ProfileFast,
	Doc: "integers from all over the range of their dtype, and long sums of the largest, give what the reference gives",
	Needs: check.When(func(op *opdef.Op) bool {
		return slices.ContainsFunc(op.Inputs, func(in opdef.Arg) bool { return cases.MayHoldAny(op, &in, ndarray.IsInteger) })
	}, "no input of integers is without a range"), Foreign: check.Judges, Run: check.WithFewerDTypes(checkLargeIntegers),
}

// checkLargeIntegers gives inputs the largest integers with which the reference itself stays in range: all of them together, each
// alone, with each value of an attribute, and in long sums.
func checkLargeIntegers(t *check.T) error {
	return t.EachRow(func(d cases.DTypes) error {
		err := check.ForEach(t.CasesOf([]cases.Plan{cases.BasePlan(d)}), func(c *cases.Case) error {
			kinds := []cases.Large{{Only: cases.Everywhere}}
			for _, i := range c.FreeIntegers() {
				kinds = append(kinds, cases.Large{Only: i}, cases.Large{Only: i, Others: 1})
			}
			return expectLargeIntegers(t, c, kinds...)
		})
		if err != nil {
			return err
		}
		err = check.ForEach(t.CasesOf(cases.ChoicePlans(t.Op, d)), func(c *cases.Case) error {
			return expectLargeIntegers(t, c, cases.Large{Only: cases.Everywhere})
		})
		if err != nil {
			return err
		}
		err = check.ForEach(t.CasesOf(cases.LongPlans(t.Op, d)), func(c *cases.Case) error {
			return expectLargeIntegers(t, c, cases.Large{Only: cases.Everywhere, Highest: true})
		})
		return orUndecided(t, err, "the reference decides nothing about larger integers than usual, or no input holds any")
	})
}

// expectLargeIntegers makes one call for each kind of contents, with the largest integers about which there is a verdict.
func expectLargeIntegers(t *check.T, c *cases.Case, kinds ...cases.Large) error {
	if len(c.FreeIntegers()) == 0 || c.Empty() {
		return nil
	}
	return check.ForEach(kinds, func(l cases.Large) error {
		for _, l.Bits = range cases.Magnitudes {
			large := c.WithLargeIntegers(l)
			want, err := oracle.Decided(t.Ctx, t.Env.Oracle, large)
			if isUndecided(want, err) {
				continue // with smaller ones there may be a verdict
			}
			if err != nil {
				return err
			}
			return expectDecided(t, large, want)
		}
		return nil
	})
}

// isUndecided reports whether the reference has nothing to say about a call: it fails, or leaves all results open.
func isUndecided(want []oracle.Expected, err error) bool {
	var none *oracle.ReferenceError
	return errors.As(err, &none) || err == nil && want == nil
}

// orUndecided gives the present row the reason why no call of it was judged, if none was and nothing else went wrong.
func orUndecided(t *check.T, err error, reason string) error {
	if r := t.CurrentRow(); err == nil && r.Checked == 0 && len(r.Failures) == 0 && r.Unsupported == "" {
		r.Unsupported = reason
	}
	return err
}

// expectDecided makes a call and compares it with what is known of its results.
func expectDecided(t *check.T, c *cases.Case, want []oracle.Expected) error {
	call, result, err := t.RunCase(t.Caller, c)
	if err != nil || !t.ExpectMetadata(call, c.Name, c, result) {
		return err
	}
	for i, o := range result.Existing() {
		t.CompareOutput(call, c, i, o.Array, want[i])
	}
	return nil
}
