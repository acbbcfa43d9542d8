package definitions

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

var samplesCheck = about("samples", check.GroupValues, check.Judges,
	check.When(func(op *opdef.Op) bool { return op.Defines("samples") }, "the definition has no samples"),
	"the author's samples are inputs of the op, of their shapes and ranges", checkSamples)

// checkSamples runs the author's function for calls of all sizes: it must give inputs of the op, of their shapes, within
// their range.
func checkSamples(t *check.T) error {
	if t.OpSampler() == nil {
		return check.Unsupported("nobody runs the author's Python here")
	}
	return t.EachRow(func(d cases.DTypes) error {
		for _, p := range slices.Concat(cases.ValuePlans(t.Op, d), cases.SizePlans(t.Op, nil, d), cases.ZeroPlans(t.Op, d)) {
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
	limits, err := cases.LimitsOf(in, c)
	if err != nil {
		return ""
	}
	dense := a.Dense()
	at, why := limits.Outside(dense)
	if at < 0 {
		return ""
	}
	text := fmt.Sprintf("%s%s is %s", in.Name, rule.List(a.Index(at)), ndarray.Text(dense.DType, dense.Data, at))
	switch why {
	case ndarray.TooLow:
		return text + ", the least is " + in.Min.BoundText(limits.Min)
	case ndarray.TooHigh:
		return text + ", the most is " + in.Max.BoundText(limits.Max)
	}
	return text + ", which comes after " + ndarray.Text(dense.DType, dense.Data, at-1)
}
