package definitions

import (
	"math"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var oracleCheck = check.Check{
	ID: "oracle", Group: check.GroupValues, Profile: check.ProfileFast,
	Doc:     "the comparison finds a result that was made wrong on purpose",
	Through: check.ThroughDefinition, Foreign: check.Judges, Run: checkOracle,
}

// checkOracle plants wrong results and expects the comparison to find each: every output of every dtype, one element off
// by a little more than is allowed, NaN, or of the wrong sign.
func checkOracle(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		want, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
		if err != nil {
			return err
		}
		t.CurrentRow().Checked++
		for i, w := range want {
			s := cases.Slots(c.Op)[i]
			if !c.Has(s) {
				continue
			}
			bound := oracle.ToleranceOf(c, i)
			exact := w.Rounded(c.Numbers(s.Arg))
			if text := oracle.Compare(s.Name, exact, w, bound); text != "" {
				t.Fail(nil, c.Name, "the rounded reference is refused: %s", text)
			}
			if exact.Len() == 0 {
				continue
			}
			plantWrongValues(t, c, i, exact, w, bound)
		}
		return nil
	})
}

// away is a number that is at least a step from v, also when it is rounded to the dtype.
func away(d dtype.DType, v, step float64) float64 {
	for far := step; ; far *= 2 {
		if rounded := ndarray.Round(d, v+far); math.Abs(rounded-v) >= math.Abs(step) || math.IsNaN(rounded) || math.IsInf(far, 0) {
			return v + far
		}
	}
}

// plantWrongValues changes the middle element in ways that must be found.
func plantWrongValues(t *check.T, c *cases.Case, i int, exact *ndarray.Array, want oracle.Expected, bound oracle.Tolerance) {
	at := exact.Len() / 2
	v := want.Values[at]
	if !want.Representable(exact.DType, int(at)) {
		return // nothing is demanded of it
	}
	name := cases.Slots(c.Op)[i].Name
	here := want.BoundAt(int(at), exact.DType, bound)
	if ndarray.IsInteger(exact.DType) {
		if wrong, ok := want.NextInteger(exact.DType, at, bound); ok && oracle.Compare(name, wrong.Array, want, bound) == "" {
			t.Fail(nil, c.Name, "%s: a value %s the reference passes: %s", name, wrong.Kind, wrong.Text)
		}
		return
	}
	step := 2*(here.ULPs*ndarray.Spacing(exact.DType, v)+here.Abs+here.Rel*math.Abs(v)) + 1e-300
	wrong := map[string]float64{"above": away(exact.DType, v, step), "below": away(exact.DType, v, -step), "NaN": math.NaN()}
	if math.IsNaN(v) {
		wrong = map[string]float64{"other than": 1}
	}
	if exact.DType.Short == "bool" {
		wrong = map[string]float64{"other than": 1 - min(v, 1)}
	}
	for kind, value := range wrong {
		if !ndarray.HasNaN(exact.DType) && !(math.Abs(ndarray.Round(exact.DType, value)-v) >= ndarray.Spacing(exact.DType, v)) {
			continue // beyond the largest number there is none
		}
		bad := exact.Dense()
		ndarray.PutFloat(bad.DType, bad.Data, at, value)
		if oracle.Compare(name, bad, want, bound) == "" {
			t.Fail(nil, c.Name, "%s: a value %s the reference passes: %v for %v", name, kind, value, v)
		}
	}
}
