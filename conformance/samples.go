package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// samplesPattern and independentPattern find the functions that a neighbouring file may define beside the reference.
var (
	samplesPattern     = regexp.MustCompile(`(?m)^def samples\(`)
	independentPattern = regexp.MustCompile(`(?m)^def independent\(`)
)

// hasSamples holds where the author makes contents.
func hasSamples(op *opdef.Op, _ Caller) error {
	return unless(samplesPattern.MatchString(op.Module), "the definition has no samples")
}

// sampler runs the samples of an op's author for sizes, attrs and leading dims by name.
type sampler func(sizes map[string]any, seed uint64) (map[string]sampled, error)

// sampled is what an author's samples make for an input, in row-major order.
type sampled struct {
	Shape  []int64
	Values []float64
}

// samplers are those of the ops whose authors make contents, by the names of the ops.
func (o *remoteOracle) samplers(ctx context.Context, ops []*opdef.Op) map[string]sampler {
	out := map[string]sampler{}
	for _, op := range ops {
		if samplesPattern.MatchString(op.Module) {
			out[op.Name] = func(sizes map[string]any, seed uint64) (map[string]sampled, error) {
				return o.samples(ctx, op, sizes, seed)
			}
		}
	}
	return out
}

// samples runs an author's function.
func (o *remoteOracle) samples(
	ctx context.Context, op *opdef.Op, sizes map[string]any, seed uint64,
) (map[string]sampled, error) {
	m, err := o.worker.Call(ctx, map[string]any{
		"do": "samples", "file": op.File, "text": op.Module, "sizes": sizes, "seed": seed,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("samples of %s: %w", op.Name, err)
	}
	var answer struct {
		Error  string
		Names  []string
		Shapes [][]int64
	}
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return nil, fmt.Errorf("samples of %s: %w", op.Name, err)
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("samples of %s: %s", op.Name, answer.Error)
	}
	out := map[string]sampled{}
	for i, name := range answer.Names {
		out[name] = sampled{Shape: answer.Shapes[i], Values: float64s(m.Blobs[i])}
	}
	return out, nil
}

// structured are the contents that the author's samples make for a case, by input; nil where there are no samples. What the
// plan says about contents does not reach them.
func (c *Case) structured(p plan) (map[string]*ndarray.Array, error) {
	if p.sampler == nil || c.hollow {
		return nil, nil
	}
	h := fnv.New64a()
	h.Write([]byte(c.Op.Name + "/" + c.Name))            // a hash never fails
	contents, err := p.sampler(c.given(), h.Sum64()>>11) // as many bits as every JSON reader keeps
	if err != nil {
		return nil, err
	}
	out := map[string]*ndarray.Array{}
	c.made = map[string]bool{}
	for name, content := range contents {
		i := c.Op.InputIndex(name)
		if i < 0 {
			return nil, fmt.Errorf("samples of %s: %q is no input", c.Op.Name, name)
		}
		want, err := c.Shape(c.Op.Inputs[i].Type)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(orEmpty(content.Shape), want) {
			return nil, fmt.Errorf("samples of %s: %s: expected shape %s, got %s", c.Op.Name, name, list(want), list(content.Shape))
		}
		d := c.DType(c.Op.Inputs[i].Type)
		if !ndarray.IsFloat(d) || p.scale == 0 { // the scale of a plan is for all floats
			out[name], c.made[name] = ndarray.FromFloats(d, want, content.Values), true
		}
	}
	return out, nil
}

// given are sizes, lets, attrs and leading dims by name, as samples sees them.
func (c *Case) given() map[string]any {
	out := map[string]any{}
	for name, n := range c.Sizes {
		out[name] = n
	}
	for _, l := range c.Op.Lets {
		if v, err := l.Expr.Eval(c); err == nil {
			out[l.Name] = v
		}
	}
	for i := range c.Op.Attrs {
		switch v := c.attr(c.Op.Attrs[i].Name).(type) {
		case int64, bool, string, float64, []int64:
			out[c.Op.Attrs[i].Name] = v
		}
	}
	if c.Op.HasBatch() {
		out["*"] = orEmpty(c.Batch)
	}
	return out
}

// checkSamples runs the author's function for calls of all sizes: it must give inputs of the op, of their shapes, within
// their range.
func checkSamples(t *T) error {
	if t.sampler() == nil {
		return unsupported("nobody runs the author's Python here")
	}
	return t.each(func(d dtypes) error {
		for _, p := range slices.Concat(valuePlans(t.Op, d), sizePlans(t.Op, d), zeroPlans(t.Op, d)) {
			if _, err := newCase(t.Op, p); err != nil {
				continue // the definition excludes it
			}
			c, err := t.sampledCase(p)
			t.row().done++
			if err != nil {
				t.Fail(nil, p.name, "%v", err)
				return nil
			}
			for i := range t.Op.Inputs {
				if text := outOfRange(c, i); text != "" && c.made[t.Op.Inputs[i].Name] {
					t.Fail(nil, c.Name, "samples of %s: %s", t.Op.Name, text)
				}
			}
		}
		return nil
	})
}

// outOfRange says which element of an input is not what the definition declares, or "".
func outOfRange(c *Case, i int) string {
	in, a := &c.Op.Inputs[i], c.Inputs[i]
	if a == nil {
		return ""
	}
	values := a.Floats()
	for at, v := range values {
		if in.Min != nil {
			if low, err := in.Min.EvalFloat(c); err == nil && v < low {
				return fmt.Sprintf("%s%s is %v, the least is %v", in.Name, list(a.Index(int64(at))), v, low)
			}
		}
		if in.Max != nil {
			if high, err := in.Max.EvalFloat(c); err == nil && v > high {
				return fmt.Sprintf("%s%s is %v, the most is %v", in.Name, list(a.Index(int64(at))), v, high)
			}
		}
		if in.Sorted && at > 0 && v < values[at-1] {
			return fmt.Sprintf("%s%s is %v, which comes after %v", in.Name, list(a.Index(int64(at))), v, values[at-1])
		}
	}
	return ""
}
