package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/transform"
)

// Slopes is the gradient of one input as finite differences see it.
type Slopes struct {
	Shape  []int64
	Values []float64
	// Spread is the distance between a coarse and a fine difference: large where the function has a kink.
	Spread []float64
}

// Differences differentiates the sum of the products of results and cotangents, one per slot or nil, with respect to the
// elements of the inputs with the given indices.
func (o *remoteOracle) Differences(
	ctx context.Context, c *Case, cotangents []*ndarray.Array, inputs []int,
) ([]Slopes, error) {
	request, p := referenceRequest(c, "float64")
	request["do"] = "differences"
	weights := []tagged{}
	for _, a := range cotangents {
		if a == nil {
			weights = append(weights, p.value(nil))
		} else {
			weights = append(weights, p.array(&Tensor{Array: a}))
		}
	}
	names := []string{}
	for _, i := range inputs {
		names = append(names, c.Op.Inputs[i].Name)
	}
	request["cotangents"], request["inputs"] = weights, names
	m, err := o.worker.Call(ctx, request, p.blobs)
	if err != nil {
		return nil, fmt.Errorf("reference of %s: %w", c.Op.Name, err)
	}
	var answer struct{ Error string }
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return nil, fmt.Errorf("reference of %s: %w", c.Op.Name, err)
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("reference of %s: %s", c.Op.Name, answer.Error)
	}
	var out []Slopes
	for k, i := range inputs {
		out = append(out, Slopes{c.Inputs[i].Shape, float64s(m.Blobs[2*k]), float64s(m.Blobs[2*k+1])})
	}
	return out, nil
}

// checkGradient compares the reference of the gradient op with finite differences of the reference of the op: small
// sizes, every element of every differentiable input, every attr value with and without each optional input. What the
// op hands to its gradient op, saved outputs too, is what its own reference gives.
func checkGradient(t *T) error {
	d := combinations(t.Op, t.env.device)
	if len(d) == 0 {
		return skip("no kernel for device %s", t.env.device)
	}
	for _, c := range cases(t.Op, gradientPlans(t.Op, d[0]), t.sampler()) {
		if err := t.gradient(c); err != nil {
			return err
		}
	}
	return nil
}

// gradientPlans are the base call and one for each attr value, each also without each of the optional inputs.
func gradientPlans(op *opdef.Op, d dtypes) []plan {
	small := base(d)
	small.name, small.batch = "gradient", []int64{3}
	plans := []plan{small}
	for _, p := range attrPlans(op, d) {
		p.name, p.batch = small.name, small.batch
		plans = append(plans, p)
	}
	for _, p := range slices.Clone(plans) {
		for _, in := range op.Inputs {
			if in.Optional {
				p.without = []string{in.Name}
				plans = append(plans, p)
			}
		}
	}
	return plans
}

// gradient judges one call.
func (t *T) gradient(c *Case) error {
	forward, err := t.env.oracle.Reference(t.ctx, c, "float64")
	if err != nil {
		return err
	}
	link := transform.GradientOf(t.Op)
	cotangents := cotangentsOf(c)
	g := c.gradient(link, exact(forward), cotangents)
	got, err := t.env.oracle.Reference(t.ctx, g, "float64")
	if err != nil {
		return err
	}
	var inputs []int
	for i, output := range link.Grads {
		if output >= 0 && c.Inputs[i] != nil {
			inputs = append(inputs, i)
		}
	}
	want, err := t.env.oracle.Differences(t.ctx, c, cotangents, inputs)
	if err != nil {
		return err
	}
	t.row().done++
	for k, i := range inputs {
		if text := misgraded(got[link.Grads[i]], want[k]); text != "" {
			t.Fail(nil, c.Name, "%s: %s: %s", g.Op.Name, opdef.GradName(c.Op.Inputs[i].Name), text)
		}
	}
	return nil
}

// cotangentsOf are random weights of the results in float64; saved outputs and what does not exist have none.
func cotangentsOf(c *Case) []*ndarray.Array {
	results, err := c.results()
	if err != nil {
		return nil // the case was solved, so its results have shapes
	}
	for i, s := range slots(c.Op) {
		if s.Saved || results[i] == nil || !ndarray.IsFloat(results[i].DType) {
			results[i] = nil
			continue
		}
		rng := ndarray.Rand("cotangent/" + c.Op.Name + "/" + s.Name + "/" + list(results[i].Shape))
		results[i] = ndarray.Random(rng, lookup("f64"), results[i].Shape, ndarray.Contents{})
	}
	return results
}

// exact are results of the reference as arrays of float64; nil where there is none.
func exact(results []Expected) []*ndarray.Array {
	out := make([]*ndarray.Array, len(results))
	for i, y := range results {
		if !y.Absent {
			out[i] = ndarray.FromFloats(lookup("f64"), y.Shape, y.Values)
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

// misgraded says how a gradient differs from finite differences, or "".
func misgraded(got Expected, want Slopes) string {
	if list(got.Shape) != list(want.Shape) {
		return fmt.Sprintf("got shape %s, want %s", list(got.Shape), list(want.Shape))
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
			return fmt.Sprintf("%s: the reference gives %v, finite differences of the op give %v",
				list(at.Index(int64(k))), got.Values[k], v)
		}
	}
	return ""
}
