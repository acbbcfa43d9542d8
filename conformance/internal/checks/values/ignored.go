package values

import (
	"errors"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var ignoredCheck = check.Check{
	ID: "ignored", Group: check.GroupValues, Generated: true,
	Doc:     "rows that the reference does not look at, such as slots after the last token, may hold NaN",
	Through: check.ThroughAdaptors, Needs: choosesRows,
	Foreign: check.Judges, Run: check.WithKernelsOnly(checkIgnored),
}

// choosesRows holds for ops of which some input says what is read of another one.
func choosesRows(op *opdef.Op, caller calls.Caller) error {
	if err := check.HasContents(op, caller); err != nil {
		return err
	}
	float := func(in opdef.Arg) bool { return cases.MayHoldAny(op, &in, ndarray.IsFloat) }
	return check.SkipUnless(slices.ContainsFunc(op.Inputs, float), "no input of real floats is without a range")
}

// checkIgnored finds by the reference which rows have no part in the results, and makes a call with NaN in all of them.
func checkIgnored(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.InnerPlans(t.Op, d) }, func(c *cases.Case) error {
		want, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
		if err != nil {
			return err
		}
		spoilt := c
		_, inputs := c.SpecialFloats()
		for _, i := range inputs {
			if t.Op.Inputs[i].Mutated {
				continue
			}
			if spoilt, err = withoutIgnored(t, spoilt, i, want); err != nil {
				return err
			}
		}
		if spoilt == c {
			t.CurrentRow().Unsupported = "each row has a part in the results"
			return nil
		}
		spoilt.Name = c.Name + ", NaN in rows that are not read"
		return t.ExpectCaseValues(spoilt)
	})
}

// withoutIgnored is a call with NaN in the rows of an input in which they change nothing, one group of rows after the other.
func withoutIgnored(t *check.T, c *cases.Case, i int, want []oracle.Expected) (*cases.Case, error) {
	for group := range cases.RowGroups {
		next := c.WithoutRows(i, group)
		if string(next.Inputs[i].Data) == string(c.Inputs[i].Bytes()) {
			break // there are no more
		}
		got, err := t.Env.Oracle.Reference(t.Ctx, next, "float64")
		var raised *oracle.ReferenceError
		switch {
		case errors.As(err, &raised): // as a reference may that looks at these rows
		case err != nil:
			return nil, err
		case sameValues(got, want):
			c = next
		}
	}
	return c, nil
}
