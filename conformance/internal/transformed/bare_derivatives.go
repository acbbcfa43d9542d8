package transformed

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
)

// MovedInputs are the places, among the inputs that a case gives, of those that have a tangent.
func MovedInputs(c *cases.Case) []int {
	plan := transform.TangentOf(c.Op)
	out := []int{}
	for place, i := range cases.GivenInputs(c) {
		for _, o := range plan.Operands {
			if o.From == transform.FromTangent && o.Index == i {
				out = append(out, place)
			}
		}
	}
	return out
}

// RandomLike are random arrays of the dtypes and shapes of others; name distinguishes their contents. Nil stays nil.
func RandomLike(name string, like []*ndarray.Array) []*ndarray.Array {
	out := make([]*ndarray.Array, len(like))
	for i, a := range like {
		if a != nil {
			rng := ndarray.Rand(fmt.Sprintf("like/%s/%d/%s", name, i, rule.List(a.Shape)))
			out[i] = ndarray.Random(rng, a.DType, a.Shape, ndarray.Contents{})
		}
	}
	return out
}

// BareTangent calls the export of the op of tangents with what the definition says that it takes. Tangents come in one per
// input of the op and go out one per output, nil where there is none; an input of floating point without one does not move.
func BareTangent(t *check.T, c *cases.Case, tangents []*ndarray.Array) (forward, moved []*ndarray.Array, err error) {
	first, err := BareCall(t, c)
	if err != nil {
		return nil, nil, err
	}
	moved, err = bareTangent(t, c, first, tangents)
	return first.Results(c.Op), moved, err
}

func bareTangent(t *check.T, c *cases.Case, first *bareResult, tangents []*ndarray.Array) ([]*ndarray.Array, error) {
	plan := transform.TangentOf(c.Op)
	second, err := BareCall(t, c.Tangent(plan, first.outputs, orZeros(tangents, c.Inputs)))
	if err != nil {
		return nil, err
	}
	moved := make([]*ndarray.Array, len(c.Op.Outputs))
	for i, output := range plan.Tangents {
		if output >= 0 {
			moved[i] = second.outputs[output]
		}
	}
	return moved, nil
}

// Gradients are a call of an op and that of its gradient op. Values are what the framework gives back of the latter: added up
// along the dims to which inputs were broadcast.
type Gradients struct {
	c, back            *cases.Case
	first, second      *bareResult
	plan               *transform.Gradient
	cotangents, values []*ndarray.Array
}

// NewGradients calls an op and its gradient op with cotangents of its results.
func NewGradients(t *check.T, c *cases.Case, cotangents []*ndarray.Array) (*Gradients, error) {
	first, err := BareCall(t, c)
	if err != nil {
		return nil, err
	}
	g := &Gradients{c: c, first: first, plan: transform.GradientOf(c.Op), cotangents: first.cotangents(cotangents)}
	g.back = c.Gradient(g.plan, first.outputs, g.cotangents)
	if g.second, err = BareCall(t, g.back); err != nil {
		return nil, err
	}
	g.values, err = g.summed(g.second.outputs)
	return g, err
}

// summed adds arrays, one for each output of the gradient op, up along the dims to which inputs were broadcast.
func (g *Gradients) summed(arrays []*ndarray.Array) ([]*ndarray.Array, error) {
	out := slices.Clone(arrays)
	for i, output := range g.plan.Grads {
		if output < 0 || out[output] == nil {
			continue
		}
		var err error
		if out[output], err = g.c.Summed(out[output], &g.c.Op.Inputs[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// summedFor adds a derivative by an operand of the gradient op up, where that is an input.
func (g *Gradients) summedFor(o transform.Operand, a *ndarray.Array) (*ndarray.Array, error) {
	if o.From != transform.FromInput {
		return a, nil
	}
	return g.c.Summed(a, &g.c.Op.Inputs[o.Index])
}

// spread gives weights of gradients the dims over which these were summed.
func (g *Gradients) spread(weights []*ndarray.Array) []*ndarray.Array {
	out := slices.Clone(weights)
	for i, full := range g.second.outputs {
		if full == nil || weights[i] == nil {
			continue
		}
		if values, fit := cases.BroadcastTo(full.Parts().Shape, weights[i].Parts().Shape, weights[i].Floats()); fit {
			out[i] = ndarray.FromFloats(full.DType, full.Shape, values)
		}
	}
	return out
}

// At are arrays, one for each output of the gradient op, at places among the given inputs of the op.
func (g *Gradients) At(arrays []*ndarray.Array, places []int) []*ndarray.Array {
	given := cases.GivenInputs(g.c)
	var out []*ndarray.Array
	for _, place := range places {
		out = append(out, arrays[g.plan.Grads[given[place]]])
	}
	return out
}

// Values are the gradients, one for each output of the gradient op.
func (g *Gradients) Values() []*ndarray.Array { return g.values }

// Again differentiates the sum of the products of gradients and weights, one for each output of the gradient op. It returns
// the derivatives by the inputs of the op, and by the cotangents; what takes no part has zeros.
func (g *Gradients) Again(t *check.T, weights []*ndarray.Array) (inputs, cotangents []*ndarray.Array, err error) {
	link := transform.GradientOf(g.back.Op)
	third, err := BareCall(t, g.back.Gradient(link, g.second.outputs, g.spread(weights)))
	if err != nil {
		return nil, nil, err
	}
	to := map[transform.Source][]*ndarray.Array{
		transform.FromInput:  make([]*ndarray.Array, len(g.c.Inputs)),
		transform.FromOutput: make([]*ndarray.Array, len(g.first.outputs)),
		transform.FromGrad:   make([]*ndarray.Array, len(g.cotangents)),
	}
	through := false
	for i, o := range g.plan.Operands {
		if grad := link.Grads[i]; grad >= 0 && third.outputs[grad] != nil {
			if to[o.From][o.Index], err = g.summedFor(o, third.outputs[grad]); err != nil {
				return nil, nil, err
			}
			through = through || o.From == transform.FromOutput
		}
	}
	if through { // the gradient op reads results of the op, which depend on its inputs
		results := orZeros(to[transform.FromOutput], g.first.outputs)
		more, err := BareCall(t, g.c.Gradient(g.plan, g.first.outputs, results))
		if err != nil {
			return nil, nil, err
		}
		gradients, err := g.summed(more.outputs)
		if err != nil {
			return nil, nil, err
		}
		for i, output := range g.plan.Grads {
			if output >= 0 && gradients[output] != nil {
				to[transform.FromInput][i] = sum(to[transform.FromInput][i], gradients[output])
			}
		}
	}
	return orZeros(to[transform.FromInput], g.c.Inputs), orZeros(to[transform.FromGrad], g.cotangents), nil
}

// Moved are the tangents of the gradients, one for each output of the gradient op, from those of the inputs of the op and of
// the cotangents.
func (g *Gradients) Moved(t *check.T, inputs, cotangents []*ndarray.Array) ([]*ndarray.Array, error) {
	results, err := bareTangent(t, g.c, g.first, inputs)
	if err != nil {
		return nil, err
	}
	from := map[transform.Source][]*ndarray.Array{
		transform.FromInput: inputs, transform.FromOutput: results, transform.FromGrad: g.first.cotangents(cotangents),
	}
	var tangents []*ndarray.Array
	for _, o := range g.plan.Operands {
		tangents = append(tangents, from[o.From][o.Index])
	}
	moved, err := bareTangent(t, g.back, g.second, tangents)
	if err != nil {
		return nil, err
	}
	return g.summed(moved)
}

// orZeros puts zeros where there is nothing like an array.
func orZeros(list, like []*ndarray.Array) []*ndarray.Array {
	out := slices.Clone(list)
	for i, a := range like {
		if out[i] == nil && a != nil {
			out[i] = ndarray.New(a.DType, a.Shape)
		}
	}
	return out
}

// sum adds arrays as frameworks do, narrow numbers in float32; nil is nothing to add.
func sum(a, b *ndarray.Array) *ndarray.Array {
	if a == nil {
		return b
	}
	values := a.Floats()
	for i, v := range b.Floats() {
		values[i] += v
		if ndarray.ItemSize(a.DType) < 4 {
			values[i] = ndarray.Round(dtype.Must("f32"), values[i])
		}
	}
	return ndarray.FromFloats(a.DType, a.Shape, values)
}
