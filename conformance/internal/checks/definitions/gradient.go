package definitions

import (
	"fmt"
	"math"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
)

var gradientCheck = about("gradient", check.GroupValues, check.Judges,
	check.When(func(op *opdef.Op) bool { return op.Gradient != nil }, "the op has no gradient"),
	"the gradient op's reference is the derivative of the op's", CheckGradient)

// CheckGradient compares the reference of the gradient op with finite differences of the reference of the op: small
// sizes, every element of every differentiable input, every attr value with and without each optional input. What the
// op hands to its gradient op, saved outputs too, is what its own reference gives.
func CheckGradient(t *check.T) error { return eachSmallCase(t, gradient) }

// eachSmallCase judges the calls by which references of derivatives are compared with finite differences.
func eachSmallCase(t *check.T, judge func(*check.T, *cases.Case) error) error {
	d := cases.SupportedDTypes(t.Op, t.Env.Device)
	if len(d) == 0 {
		return check.Skip("no kernel for device %s", t.Env.Device)
	}
	for _, c := range cases.All(t.Op, gradientPlans(t.Op, d[0]), t.OpSampler()) {
		if err := judge(t, c); err != nil {
			return err
		}
	}
	return nil
}

// gradientPlans are the base call and one for each attr value, each also without each of the optional inputs.
func gradientPlans(op *opdef.Op, d cases.DTypes) []cases.Plan {
	small := cases.BasePlan(d)
	small.Name, small.Batch = "gradient", []int64{3}
	plans := append([]cases.Plan{small}, cases.LeadPlans(op, d, []int64{3}, []int64{2, 3})...)
	for _, p := range cases.AttrPlans(op, d) {
		p.Name, p.Batch = small.Name, small.Batch
		plans = append(plans, p)
	}
	for _, p := range slices.Clone(plans) {
		for _, in := range op.Inputs {
			if in.Optional {
				p.Without = []string{in.Name}
				plans = append(plans, p)
			}
		}
	}
	return plans
}

// gradient judges one call.
func gradient(t *check.T, c *cases.Case) error {
	forward, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
	if err != nil {
		return err
	}
	link := transform.GradientOf(t.Op)
	cotangents := cotangentsOf(c)
	g := c.Gradient(link, exact(c, forward), cotangents)
	got, err := t.Env.Oracle.Reference(t.Ctx, g, "float64")
	if err != nil {
		return err
	}
	var inputs []int
	for i, output := range link.Grads {
		if output >= 0 && c.Inputs[i] != nil {
			inputs = append(inputs, i)
		}
	}
	want, err := t.Env.Oracle.Differences(t.Ctx, c, cotangents, inputs)
	if err != nil {
		return err
	}
	t.CurrentRow().Checked++
	for k, i := range inputs {
		grad := got[link.Grads[i]]
		if in := &c.Op.Inputs[i]; in.Type.Lead() == opdef.Broadcast {
			grad = oracle.Expected{Complex: grad.Complex, Shape: want[k].Shape, Values: cases.SumTo(want[k].Shape, grad.Shape, grad.Values)}
		}
		if text := GradientDifference(grad, want[k]); text != "" {
			t.Fail(nil, c.Name, "%s: %s: %s", g.Op.Name, c.Op.GradPrefix()+c.Op.Inputs[i].Name, text)
		}
	}
	return nil
}

// cotangentsOf are random weights of the results in float64, or in pairs of it; saved outputs and what does not exist have none.
func cotangentsOf(c *cases.Case) []*ndarray.Array {
	results, err := c.ZeroResults()
	if err != nil {
		return nil // the case was solved, so its results have shapes
	}
	for i, s := range cases.Slots(c.Op) {
		if s.Saved || results[i] == nil || !results[i].DType.Inexact() {
			results[i] = nil
			continue
		}
		rng := ndarray.Rand("cotangent/" + c.Op.Name + "/" + s.Name + "/" + rule.List(results[i].Shape))
		results[i] = ndarray.Random(rng, results[i].DType.Widest(), results[i].Shape, ndarray.Contents{})
	}
	return results
}

// exact are results of the reference as arrays of float64, or of their integers; nil where there is none.
func exact(c *cases.Case, results []oracle.Expected) []*ndarray.Array {
	out := make([]*ndarray.Array, len(results))
	for i, s := range cases.Slots(c.Op) {
		d := c.DType(s.Type)
		if d.Inexact() {
			d = d.Widest()
		}
		if !results[i].Absent {
			out[i] = results[i].Rounded(d)
		}
	}
	return out
}

// What finite differences of order four with the step of the worker can tell, relative to the largest element; the spread
// beyond which an element sits at a kink; how many may.
const (
	gradientBound = 1e-9
	kinkSpread    = 1e-3
	kinkShare     = 0.2
)

// GradientDifference says how a gradient differs from finite differences, or "".
func GradientDifference(got oracle.Expected, want oracle.FiniteDifferences) string {
	if rule.List(got.Shape) != rule.List(want.Shape) {
		return fmt.Sprintf("got shape %s, want %s", rule.List(got.Shape), rule.List(want.Shape))
	}
	largest, kinks := 1.0, 0
	for k, v := range want.Values {
		if !(want.Spread[k] <= kinkSpread*(1+math.Abs(v))) {
			kinks++
		} else {
			largest = max(largest, math.Abs(v))
		}
	}
	if float64(kinks) > kinkShare*float64(len(want.Values)) {
		return fmt.Sprintf("%d of %d elements have no derivative", kinks, len(want.Values))
	}
	at := &ndarray.Array{Shape: want.Shape}
	for k, v := range want.Values {
		smooth := want.Spread[k] <= kinkSpread*(1+math.Abs(v))
		if smooth && !(math.Abs(got.Values[k]-v) <= gradientBound*largest) {
			index, part := at.Index(int64(k)), ""
			if got.Complex {
				last := len(index) - 1
				index, part = index[:last], []string{".real", ".imag"}[index[last]]
			}
			return fmt.Sprintf("%s%s: the reference gives %v, finite differences of the op give %v", rule.List(index), part, got.Values[k], v)
		}
	}
	return ""
}
