package cases

import (
	"slices"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// chooseLeads gives the inputs with "..." their leading dims: those of the plan, or such that all but some inputs lack one dim
// of size 2. A gradient is then the sum of two numbers, which has one value in every order. Batch becomes what the
// inputs have together.
func (c *Case) chooseLeads(p Plan) {
	if !c.Op.Broadcasts() {
		c.chooseOwnLeads(p)
		return
	}
	c.Leads = map[string][]int64{}
	for i, name := range broadcastInputs(c.Op, p.Without) {
		lead, given := p.Leads[name]
		if !given {
			lead = withoutPair(p.Batch, i+p.Shift)
		}
		c.Leads[name] = OrEmpty(lead)
	}
	c.joinLeads()
}

// joined are the dims that leading dims have together.
func joined(leads map[string][]int64) []int64 {
	batch := []int64{}
	for _, lead := range leads {
		batch, _ = rule.Broadcast(batch, lead)
	}
	return batch
}

// joinLeads makes Batch what the inputs have together.
func (c *Case) joinLeads() { c.Batch = joined(c.Leads) }

// broadcastInputs names the inputs that have "...", but for those left out.
func broadcastInputs(op *opdef.Op, without []string) []string {
	var out []string
	for _, in := range op.Inputs {
		if in.Type.Lead() == opdef.Broadcast && !slices.Contains(without, in.Name) {
			out = append(out, in.Name)
		}
	}
	return out
}

// withoutPair is a shape, or two of three times one that lacks its first dim of size 2: it is left out where it is the first
// dim, else it is 1.
func withoutPair(batch []int64, number int) []int64 {
	at := slices.Index(batch, 2)
	out := slices.Clone(batch)
	switch {
	case at < 0 || number%3 == 0:
	case at == 0 && number%3 == 1:
		out = out[1:]
	default:
		out[at] = 1
	}
	return out
}

// leadPatterns are shapes that broadcast to a given one: all of it, less at its beginning, with ones here and there.
func leadPatterns(batch []int64) [][]int64 {
	ones := func(shape []int64, odd int) []int64 {
		out := slices.Clone(shape)
		for i := range out {
			if i%2 == odd {
				out[i] = 1
			}
		}
		return out
	}
	out := [][]int64{batch, {}, ones(batch, 0), ones(batch, 1)}
	if len(batch) > 0 {
		out = append(out, batch[1:], ones(batch[1:], 0))
	}
	return out
}

// LeadPlans broadcast in many ways: every input has each of several shapes, also alone with all dims.
func LeadPlans(op *opdef.Op, d DTypes, batches ...[]int64) []Plan {
	var plans []Plan
	names := broadcastInputs(op, nil)
	for _, batch := range batches {
		patterns := leadPatterns(batch)
		for shift := range patterns {
			p := Plan{Name: "broadcast", DTypes: d, Batch: batch, Leads: map[string][]int64{}}
			for i, name := range names {
				p.Leads[name] = patterns[(i+shift)%len(patterns)]
			}
			plans = append(plans, p)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return plans
}

// Lead are the leading dims of an argument: those of an input that is broadcast are its own.
func (c *Case) Lead(a *opdef.Arg) []int64 {
	if lead, own := c.Leads[a.Name]; own {
		return lead
	}
	return c.Batch
}

// ShapeOf is the shape of an argument.
func (c *Case) ShapeOf(a *opdef.Arg) ([]int64, error) {
	own := *c
	own.Batch = c.Lead(a)
	return own.Shape(a.Type)
}

// FirstAxis is the axis of an argument that is the first leading dim; -1 where it has none, or one that is broadcast.
func (c *Case) FirstAxis(a *opdef.Arg) int {
	lead := c.Lead(a)
	if a.Type.Lead() == "" || a.Own || len(lead) == 0 || len(lead) < len(c.Batch) || lead[0] != c.Batch[0] {
		return -1
	}
	return 0
}

// Summed adds up a gradient along the dims to which an input was broadcast, as frameworks do: numbers of 16 bits in float32.
func (c *Case) Summed(grad *ndarray.Array, a *opdef.Arg) (*ndarray.Array, error) {
	shape, err := c.ShapeOf(a)
	if err != nil || slices.Equal(shape, grad.Shape) {
		return grad, err
	}
	sum := ndarray.New(grad.DType, shape)
	sums := make([]float64, sum.Parts().Len())
	for k, v := range SumTo(sum.Parts().Shape, grad.Parts().Shape, grad.Floats()) {
		if grad.DType.Part().Bits <= 32 {
			v = float64(float32(v))
		}
		sums[k] = v
	}
	return ndarray.FromFloats(grad.DType, shape, sums), nil
}

// SumTo adds up values of a full shape to those of a shape that was broadcast to it.
func SumTo(shape, full []int64, values []float64) []float64 {
	sums := make([]float64, ndarray.Count(shape))
	from := broadcastSource(shape, full)
	for k, v := range values {
		sums[from(k)] += v
	}
	return sums
}

// BroadcastTo repeats values of a shape so that they fill a full one; false where it does not go there.
func BroadcastTo[T any](full, shape []int64, values []T) ([]T, bool) {
	if all, fit := rule.Broadcast(full, shape); !fit || !slices.Equal(all, full) {
		return nil, false
	}
	out := make([]T, ndarray.Count(full))
	from := broadcastSource(shape, full)
	for k := range out {
		out[k] = values[from(k)]
	}
	return out, true
}

// broadcastSource says which element of a shape stands at an element of the full shape to which it is broadcast.
func broadcastSource(shape, full []int64) func(element int) int64 {
	strides := ndarray.DenseStrides(shape)
	at := &ndarray.Array{Shape: full}
	return func(element int) int64 {
		source := int64(0)
		index := at.Index(int64(element))[len(full)-len(shape):]
		for i, n := range shape {
			if n != 1 {
				source += index[i] * strides[i]
			}
		}
		return source
	}
}
