package conformance

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
)

// independentTolerance is how far two formulas in float64 may be apart, relative to values beyond one.
const independentTolerance = 1e-9

// second is an oracle that also evaluates the author's independent formula.
type second interface {
	// Independent evaluates it; missing names a module that it needs and that is not installed.
	Independent(ctx context.Context, c *Case) (got []Expected, missing string, err error)
}

// hasIndependent holds where the author gives a second formula.
func hasIndependent(op *opdef.Op, _ Caller) error {
	if independentPattern.MatchString(op.Module) {
		return nil
	}
	return unsupported("there is no independent formula: define independent in %s.py", op.Name)
}

// Independent evaluates the function independent of the neighbouring file.
func (o *remoteOracle) Independent(ctx context.Context, c *Case) (got []Expected, missing string, err error) {
	request, p := referenceRequest(c, "float64")
	request["do"], request["text"], request["module"] = "independent", c.Op.Module, true
	m, err := o.worker.Call(ctx, request, p.blobs)
	if err == nil {
		got, missing, err = readExpected(m)
	}
	if err != nil {
		return nil, "", fmt.Errorf("independent formula of %s: %w", c.Op.Name, err)
	}
	return got, missing, nil
}

// checkIndependent compares the reference with the author's second formula: a wrong reference would make the suite demand a
// wrong kernel.
func checkIndependent(t *T) error {
	oracle, ok := t.env.oracle.(second)
	if !ok {
		return unsupported("the oracle evaluates references only")
	}
	all := combinations(t.Op, t.env.device)
	if len(all) == 0 {
		all = declared(t.Op)
	}
	d := all[0]
	plans := slices.Concat(valuePlans(t.Op, d), sizePlans(t.Op, d), attrPlans(t.Op, d), zeroPlans(t.Op, d), contentPlans(d))
	for _, c := range cases(t.Op, plans, t.sampler()) {
		got, missing, err := oracle.Independent(t.ctx, c)
		if missing != "" {
			return unsupported("the independent formula needs a module: %s", missing)
		}
		t.row().done++
		if err != nil {
			t.Fail(nil, c.Name, "%v", err)
			return nil
		}
		want, err := t.env.oracle.Reference(t.ctx, c, "float64")
		if err != nil {
			return err
		}
		if text := apart(c, want, got); text != "" {
			t.Fail(nil, c.Name, "%s", text)
		}
	}
	return nil
}

// apart says where two formulas differ, or "".
func apart(c *Case, want, got []Expected) string {
	if len(got) != len(want) {
		return fmt.Sprintf("the reference gives %d results, the independent formula %d", len(want), len(got))
	}
	for i, w := range want {
		name := slots(c.Op)[i].Name
		g := got[i]
		if g.Absent != w.Absent || list(g.Shape) != list(w.Shape) {
			return fmt.Sprintf("%s: the reference gives %s, the independent formula %s", name, shapeOf(w), shapeOf(g))
		}
		for j, v := range w.Values {
			other := g.Values[j]
			if v == other || math.IsNaN(v) && math.IsNaN(other) {
				continue
			}
			// A bound that is a share of infinity would hold for anything; NaN fails the comparison.
			if math.IsInf(v, 0) || !(math.Abs(v-other) <= independentTolerance*max(1, math.Abs(v))) {
				return fmt.Sprintf("%s, element %d of %s: the reference gives %v, the independent formula %v",
					name, j, strings.TrimSpace(list(w.Shape)), v, other)
			}
		}
	}
	return ""
}

// shapeOf describes what a formula gives for a slot.
func shapeOf(e Expected) string {
	if e.Absent {
		return "None"
	}
	return list(e.Shape)
}
