package cases

import (
	"fmt"
	"hash/fnv"
	"math/big"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
)

// Sampler runs the samples of an op's author for sizes, attrs and leading dims by name.
type Sampler func(sizes map[string]any, seed uint64) (map[string]Sampled, error)

// Sampled is what an author's samples make for an input, in row-major order. Complex numbers are two values each.
type Sampled struct {
	Shape  []int64
	Values []float64
	// Integers are the values where they are integers of which float64 lacks some; else nil.
	Integers []*big.Int
}

// sampledInputs are the contents that the author's samples make for a case, by input; nil where there are no samples.
// What the plan says about contents does not reach them.
func (c *Case) sampledInputs(p Plan) (map[string]*ndarray.Array, error) {
	if p.Sampler == nil || c.noData {
		return nil, nil
	}
	h := fnv.New64a()
	h.Write([]byte(c.Op.Name + "/" + c.Name))                       // a hash never fails
	contents, err := p.Sampler(c.samplerArguments(), h.Sum64()>>11) // as many bits as every JSON reader keeps
	if err != nil {
		return nil, err
	}
	out := map[string]*ndarray.Array{}
	c.Sampled = map[string]bool{}
	for name, content := range contents {
		i := c.Op.InputIndex(name)
		if i < 0 {
			return nil, fmt.Errorf("samples of %s: %q is no input", c.Op.Name, name)
		}
		want, err := c.ShapeOf(&c.Op.Inputs[i])
		if err != nil {
			return nil, err
		}
		if !slices.Equal(OrEmpty(content.Shape), want) {
			return nil, fmt.Errorf("samples of %s: %s: expected shape %s, got %s", c.Op.Name, name, rule.List(want), rule.List(content.Shape))
		}
		d := c.DType(c.Op.Inputs[i].Type)
		if !d.Complex() && int64(len(content.Values)) != ndarray.Count(want) {
			return nil, fmt.Errorf("samples of %s: %s: expected real numbers, got complex ones", c.Op.Name, name)
		}
		if !d.Inexact() || p.Scale == 0 { // the scale of a plan is for all floats
			out[name], c.Sampled[name] = ndarray.FromFloats(d, want, withParts(d, want, content.Values)), true
			if content.Integers != nil && ndarray.IsInteger(d) {
				out[name] = ndarray.FromInts(d, want, content.Integers)
			}
		}
	}
	return out, nil
}

// withParts are values with imaginary parts of zero where the dtype has parts and the values have none.
func withParts(d dtype.DType, shape []int64, values []float64) []float64 {
	if !d.Complex() || int64(len(values)) != ndarray.Count(shape) {
		return values
	}
	parts := make([]float64, 2*len(values))
	for i, v := range values {
		parts[2*i] = v
	}
	return parts
}

// samplerArguments are sizes, lets, attrs and leading dims by name, as samples sees them.
func (c *Case) samplerArguments() map[string]any {
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
		switch v := c.Attr(c.Op.Attrs[i].Name).(type) {
		case int64, bool, string, float64, []int64:
			out[c.Op.Attrs[i].Name] = v
		case nil:
			if c.Op.Attrs[i].Optional {
				out[c.Op.Attrs[i].Name] = nil
			}
		}
	}
	switch {
	case c.Op.Broadcasts():
		leads := map[string][]int64{}
		for _, name := range broadcastInputs(c.Op, nil) {
			leads[name] = OrEmpty(c.Leads[name])
		}
		out["..."] = leads
	case c.Op.HasBatch():
		out["*"] = OrEmpty(c.Batch)
	}
	return out
}
