package definitions

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

var independentCheck = check.Check{
	ID: "independent", Group: check.GroupValues,
	Doc:     "the reference agrees with the author's independent formula",
	Through: check.ThroughDefinition, Needs: HasIndependent, Foreign: check.Judges, Ahead: importModules,
	Run: checkIndependent,
}

// independentTolerance is how far two formulas in float64 may be apart, relative to values beyond one.
const independentTolerance = 1e-9

// HasIndependent holds where the author gives a second formula.
func HasIndependent(op *opdef.Op, _ calls.Caller) error {
	if op.Defines("independent") {
		return nil
	}
	return check.Unsupported("there is no independent formula: define independent in %s.py", op.Name)
}

// importModules has the oracle import what the formula needs, such as PyTorch.
func importModules(ctx context.Context, env *check.Environment, op *opdef.Op, _ calls.Caller) {
	if oracle, ok := env.Oracle.(oracle.IndependentOracle); ok {
		_ = oracle.ImportModules(ctx, op) // the formula says what is missing
	}
}

// checkIndependent compares the reference with the author's second formula: a wrong reference would make the suite demand a
// wrong kernel.
func checkIndependent(t *check.T) error {
	oracle, ok := t.Env.Oracle.(oracle.IndependentOracle)
	if !ok {
		return check.Unsupported("the oracle evaluates references only")
	}
	all := cases.SupportedDTypes(t.Op, t.Env.Device)
	if len(all) == 0 {
		all = cases.DeclaredDTypes(t.Op)
	}
	d := all[0]
	plans := slices.Concat(cases.ValuePlans(t.Op, d), cases.SizePlans(t.Op, nil, d), cases.AttrPlans(t.Op, d), cases.ZeroPlans(t.Op, d), cases.ContentPlans(d))
	for _, c := range cases.All(t.Op, plans, t.OpSampler()) {
		got, missing, err := oracle.Independent(t.Ctx, c)
		if missing != "" {
			return check.Unsupported("the independent formula needs a module: %s", missing)
		}
		t.CurrentRow().Checked++
		if err != nil {
			t.Fail(nil, c.Name, "%v", err)
			return nil
		}
		want, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
		if err != nil {
			return err
		}
		if text := FormulaDifference(c, want, got); text != "" {
			t.Fail(nil, c.Name, "%s", text)
		}
	}
	return nil
}

// FormulaDifference says where two formulas differ, or "".
func FormulaDifference(c *cases.Case, want, got []oracle.Expected) string {
	if len(got) != len(want) {
		return fmt.Sprintf("the reference gives %d results, the independent formula %d", len(want), len(got))
	}
	for i, w := range want {
		name := cases.Slots(c.Op)[i].Name
		g := got[i]
		if g.Absent != w.Absent || rule.List(g.Shape) != rule.List(w.Shape) {
			return fmt.Sprintf("%s: the reference gives %s, the independent formula %s", name, shapeOf(w), shapeOf(g))
		}
		if text := integerDifference(name, w, g); text != "" {
			return text
		}
		for j, v := range w.Values {
			other := g.Values[j]
			if v == other || math.IsNaN(v) && math.IsNaN(other) {
				continue
			}
			// A bound that is a share of infinity would hold for anything; NaN fails the comparison.
			if math.IsInf(v, 0) || !(math.Abs(v-other) <= independentTolerance*max(1, math.Abs(v))) {
				return fmt.Sprintf("%s, element %d of %s: the reference gives %v, the independent formula %v",
					name, j, strings.TrimSpace(rule.List(w.Shape)), v, other)
			}
		}
	}
	return ""
}

// integerDifference says where two formulas differ that both give integers of 64 bits, or "".
func integerDifference(name string, want, got oracle.Expected) string {
	if want.Integers == nil || got.Integers == nil {
		return ""
	}
	for j, v := range want.Integers {
		if v.Cmp(got.Integers[j]) != 0 {
			return fmt.Sprintf("%s, element %d of %s: the reference gives %v, the independent formula %v",
				name, j, strings.TrimSpace(rule.List(want.Shape)), v, got.Integers[j])
		}
	}
	return ""
}

// shapeOf describes what a formula gives for a slot.
func shapeOf(e oracle.Expected) string {
	if e.Absent {
		return "None"
	}
	return rule.List(e.Shape)
}
