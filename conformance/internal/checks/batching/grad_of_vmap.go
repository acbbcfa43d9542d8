package batching

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
)

var gradOfVmapCheck = transformed.Check("grad-of-vmap", transformed.Differentiates,
	"gradients of mapped calls are those of the slices, summed where an input is not mapped", checkGradOfMap)

// checkGradOfMap differentiates the sum over the slices.
func checkGradOfMap(t *check.T) error {
	return everyMap(t, func(x *composed) error {
		for _, compile := range x.compositions() {
			name := fmt.Sprintf("%s, compiled: %v", x.m.describe(), compile)
			r, err := transformed.Send(t, name, &calls.Transformation{
				Method: "of mapped", Call: calls.New(x.m.base), Calls: []calls.Arrays{x.arguments}, Options: x.options(compile),
			}, nil)
			if err != nil {
				return err
			}
			expectSums(t, name, x, r)
		}
		return nil
	})
}

// expectSums expects the bits of the slices for mapped inputs, and their sum for the others.
func expectSums(t *check.T, name string, x *composed, r *calls.Transformed) {
	wrt := transformed.DifferentiableInputs(x.m.base)
	got, ok := transformed.Arrays(t, name, r.In("", 0), len(wrt))
	if !ok {
		return
	}
	stacked := x.m.stacked(x.gradients, x.gradients[0])
	for k, place := range wrt {
		text := ""
		if x.m.levels[0].axes[place] != nil {
			text = transformed.SameParts(t)(fmt.Sprintf("gradient %d", k), got[k].Array, stacked[k])
		} else {
			text = compareSum(fmt.Sprintf("gradient %d", k), got[k].Array, transformed.Column(x.gradients, k))
		}
		if text != "" {
			t.Fail(nil, name, "%s", text)
		}
	}
}

// compareSum compares an array with the sum of its parts, which were rounded before they were added: each addition may
// cost a spacing of the largest partial sum.
func compareSum(name string, got *ndarray.Array, parts []*ndarray.Array) string {
	numbers := parts[0].Parts().Len()
	want, reach := make([]float64, numbers), make([]float64, numbers)
	for _, p := range parts {
		for i, v := range p.Floats() {
			want[i] += v
			reach[i] += max(v, -v)
		}
	}
	if rule.List(got.Shape) != rule.List(parts[0].Shape) || got.DType.Long != parts[0].DType.Long {
		return fmt.Sprintf("%s: got %s%s, want %s%s", name, got.DType.Long, rule.List(got.Shape), parts[0].DType.Long, rule.List(parts[0].Shape))
	}
	for i, v := range got.Floats() {
		allowed := transformed.SumSpacings * float64(len(parts)) * ndarray.Spacing(got.DType.Part(), reach[i])
		if d := v - want[i]; !(max(d, -d) <= allowed) {
			return fmt.Sprintf("%s%s: got %v, want %v, the sum over %d parts", name, rule.List(got.Parts().Index(int64(i))), v, want[i], len(parts))
		}
	}
	return ""
}
