package definitions

import (
	"fmt"
	"math"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
)

var tangentCheck = about("tangent", check.GroupValues, check.Judges,
	check.When(func(op *opdef.Op) bool { return op.Tangent != nil }, "the op names no op of tangents"),
	"the reference of the op of tangents is the derivative of the op's along a direction", CheckTangent)

// CheckTangent compares the reference of the op of tangents with finite differences of the reference of the op, for the
// calls of CheckGradient: both give the same sum of products with random weights of the results.
func CheckTangent(t *check.T) error { return eachSmallCase(t, tangent) }

// tangent judges one call.
func tangent(t *check.T, c *cases.Case) error {
	forward, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
	if err != nil {
		return err
	}
	link := transform.TangentOf(t.Op)
	var inputs []int
	for _, o := range link.Operands {
		if o.From == transform.FromTangent && c.Inputs[o.Index] != nil {
			inputs = append(inputs, o.Index)
		}
	}
	weights := cotangentsOf(c)
	slopes, err := t.Env.Oracle.Differences(t.Ctx, c, weights, inputs)
	if err != nil {
		return err
	}
	moved, want, size := direction(c, inputs, slopes)
	got, err := t.Env.Oracle.Reference(t.Ctx, c.Tangent(link, exact(c, forward), moved), "float64")
	if err != nil {
		return err
	}
	t.CurrentRow().Checked++
	total, text := weighted(t.Op, link, weights, got)
	if text == "" && !(math.Abs(total-want) <= gradientBound*size) {
		text = fmt.Sprintf("weighted by random numbers, the tangents of the reference sum to %v, finite differences of the op to %v", total, want)
	}
	if text != "" {
		t.Fail(nil, c.Name, "%s: %s", link.Op.Name, text)
	}
	return nil
}

// direction are random tangents of inputs with given slopes, the sum of the products of both, and its size; an element at a
// kink stays where it is. What has no tangent has zeros.
func direction(c *cases.Case, inputs []int, slopes []oracle.FiniteDifferences) (moved []*ndarray.Array, sum, size float64) {
	moved, size = make([]*ndarray.Array, len(c.Inputs)), 1
	for k, i := range inputs {
		name := c.Op.Inputs[i].Name
		rng := ndarray.Rand("tangent/" + c.Op.Name + "/" + name + "/" + rule.List(slopes[k].Shape))
		values := ndarray.Random(rng, dtype.Must("f64"), slopes[k].Shape, ndarray.Contents{}).Floats()
		for e, slope := range slopes[k].Values {
			if !(slopes[k].Spread[e] <= kinkSpread*(1+math.Abs(slope))) {
				values[e] = 0
				continue
			}
			sum += values[e] * slope
			size += math.Abs(values[e] * slope)
		}
		moved[i] = ndarray.FromFloats(c.Inputs[i].DType.Widest(), c.Inputs[i].Shape, values)
	}
	return moved, sum, size
}

// weighted is the sum of the products of tangents and the weights of the results, or it says what is wrong with a shape.
func weighted(op *opdef.Op, link *transform.Tangent, weights []*ndarray.Array, got []oracle.Expected) (sum float64, text string) {
	for i, output := range link.Tangents {
		if output < 0 || weights[i] == nil {
			continue
		}
		y := got[output]
		if y.Absent || rule.List(y.Shape) != rule.List(weights[i].Parts().Shape) {
			return 0, fmt.Sprintf("%s%s: got shape %s, want %s", op.TangentPrefix(), op.Outputs[i].Name, rule.List(y.Shape), rule.List(weights[i].Parts().Shape))
		}
		for e, w := range weights[i].Floats() {
			sum += w * y.Values[e]
		}
	}
	return sum, ""
}
