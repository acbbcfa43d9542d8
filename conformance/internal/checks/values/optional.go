package values

import (
	"math"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

var optionalCheck = check.Check{
	ID: "optional", Group: check.GroupValues, Profile: check.ProfileFast,
	Doc: "leaving an optional input out gives what a neutral array gives, such as ones for a weight",
	Needs: check.When(func(op *opdef.Op) bool {
		return slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.Optional })
	}, "the op has no optional inputs"),
	Foreign: check.Judges,
	Run:     check.WithFewerDTypes(checkOptional),
}

// checkOptional leaves each optional input out and expects what a neutral one gives: zeros or ones, whichever the
// reference says is neutral.
func checkOptional(t *check.T) error {
	found := false
	err := t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		for i, in := range t.Op.Inputs {
			if !in.Optional || c.Inputs[i] == nil {
				continue
			}
			absent := c.With(i, nil, "no "+in.Name)
			if k := t.RowKernel(); !absent.Allowed() || k != nil && absent.Refuses(k) {
				continue // the dtype of what is left out decides
			}
			want, err := t.RunBaseline(t.Caller, absent)
			if err != nil {
				return err
			}
			neutral, err := neutralInput(t, c, absent, i)
			if err != nil {
				return err
			}
			if neutral == nil {
				continue
			}
			found = true
			call, got, err := t.RunCase(t.Caller, neutral)
			if err != nil {
				return err
			}
			t.ExpectEqualValues(call, neutral.Name, got, want)
		}
		return nil
	})
	if err == nil && !found {
		return check.Skip("no optional input has a neutral value")
	}
	return err
}

// neutralInput fills an input so that the reference gives what it gives without that input. It is nil where no filling does.
func neutralInput(t *check.T, c, absent *cases.Case, i int) (*cases.Case, error) {
	want, err := t.Env.Oracle.Reference(t.Ctx, absent, "float64")
	if err != nil {
		return nil, err
	}
	for _, v := range []float64{0, 1} {
		filled := ndarray.Full(c.Inputs[i].DType, c.Inputs[i].Shape, v)
		candidate := c.With(i, filled, "neutral "+t.Op.Inputs[i].Name)
		got, err := t.Env.Oracle.Reference(t.Ctx, candidate, "float64")
		if err != nil {
			return nil, err
		}
		if sameValues(got, want) {
			return candidate, nil
		}
	}
	return nil, nil // no filling does
}

func sameValues(a, b []oracle.Expected) bool {
	for i := range a {
		if a[i].Absent || b[i].Absent {
			continue
		}
		if rule.List(a[i].Shape) != rule.List(b[i].Shape) {
			return false
		}
		for k, v := range a[i].Values {
			if v != b[i].Values[k] && !(math.IsNaN(v) && math.IsNaN(b[i].Values[k])) {
				return false
			}
		}
	}
	return len(a) == len(b)
}
