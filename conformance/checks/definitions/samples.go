package definitions

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

var samplesCheck = check.Check{
	ID: "samples", Group: check.GroupValues,
	Doc:     "the author's samples are inputs of the op, of their shapes and ranges",
	Through: check.ThroughDefinition,
	Needs:   hasSamples,
	Foreign: check.Judges,
	Run:     checkSamples,
}

// hasSamples holds where the author makes contents.
func hasSamples(op *opdef.Op, _ calls.Caller) error {
	return check.SkipUnless(cases.SamplesPattern.MatchString(op.Module), "the definition has no samples")
}

// checkSamples runs the author's function for calls of all sizes: it must give inputs of the op, of their shapes, within
// their range.
func checkSamples(t *check.T) error {
	if t.OpSampler() == nil {
		return check.Unsupported("nobody runs the author's Python here")
	}
	return t.EachRow(func(d cases.DTypes) error {
		for _, p := range slices.Concat(cases.ValuePlans(t.Op, d), cases.SizePlans(t.Op, d), cases.ZeroPlans(t.Op, d)) {
			if _, err := cases.New(t.Op, p); err != nil {
				continue // the definition excludes it
			}
			c, err := t.SampledCase(p)
			t.CurrentRow().Checked++
			if err != nil {
				t.Fail(nil, p.Name, "%v", err)
				return nil
			}
			for i := range t.Op.Inputs {
				if text := outOfRange(c, i); text != "" && c.Sampled[t.Op.Inputs[i].Name] {
					t.Fail(nil, c.Name, "samples of %s: %s", t.Op.Name, text)
				}
			}
		}
		return nil
	})
}

// outOfRange says which element of an input is not what the definition declares, or "".
func outOfRange(c *cases.Case, i int) string {
	in, a := &c.Op.Inputs[i], c.Inputs[i]
	if a == nil {
		return ""
	}
	values := a.Floats()
	for at, v := range values {
		if in.Min != nil {
			if low, err := in.Min.EvalFloat(c); err == nil && v < low {
				return fmt.Sprintf("%s%s is %v, the least is %v", in.Name, rule.List(a.Index(int64(at))), v, low)
			}
		}
		if in.Max != nil {
			if high, err := in.Max.EvalFloat(c); err == nil && v > high {
				return fmt.Sprintf("%s%s is %v, the most is %v", in.Name, rule.List(a.Index(int64(at))), v, high)
			}
		}
		if in.Sorted && at > 0 && v < values[at-1] {
			return fmt.Sprintf("%s%s is %v, which comes after %v", in.Name, rule.List(a.Index(int64(at))), v, values[at-1])
		}
	}
	return ""
}
