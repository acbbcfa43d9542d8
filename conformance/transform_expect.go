package conformance

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/transform"
)

// bare is what the bare backend computes: the outputs as declared, saved ones too, nil where they do not exist, then the
// mutated inputs.
type bare struct {
	outputs, mutated []*ndarray.Array
}

// results are what a public call gives, without the ones that do not exist.
func (b *bare) results(op *opdef.Op) []*ndarray.Array {
	var out []*ndarray.Array
	for i, a := range b.outputs {
		if a != nil && !op.Outputs[i].Saved {
			out = append(out, a)
		}
	}
	return append(out, b.mutated...)
}

// bareCall calls the backend's export with nothing in between.
func (t *T) bareCall(c *Case) (*bare, error) {
	backend := t.env.caller(backendName)
	if backend == nil {
		return nil, skip("the backend cannot be called")
	}
	call, made, err := bareArguments(c)
	if err != nil {
		return nil, err
	}
	call.Kernel = t.kernelOf(c.Op)
	result, err := backend.Call(t.ctx, call)
	if err != nil {
		return nil, err
	}
	if result.Error != nil {
		return nil, fmt.Errorf("the backend refused %s: %s: %s", c.Name, result.Error.Class, result.Error.Text)
	}
	return made.read(c, call, result)
}

// kernelOf is the kernel that is forced in calls of an op: that of the present row.
func (t *T) kernelOf(op *opdef.Op) string {
	if op == t.Op {
		return t.forced()
	}
	return ""
}

// bareArguments are the arguments of a call of the export: every output that exists gets an array full of NaN.
func bareArguments(c *Case) (*Call, *bare, error) {
	call, made := newCall(c), &bare{}
	var err error
	if call.Scratch, err = garbage(c, fillByte); err != nil {
		return nil, nil, err
	}
	call.Out = []*Tensor{}
	for _, o := range c.Op.Outputs {
		if i := c.Op.InputIndex(o.PresentIf); o.PresentIf != "" && c.Inputs[i] == nil {
			made.outputs = append(made.outputs, nil)
			call.Out = append(call.Out, nil)
			continue
		}
		shape, err := c.Shape(o.Type)
		if err != nil {
			return nil, nil, err
		}
		a := ndarray.New(c.DType(o.Type), shape)
		for i := range a.Data {
			a.Data[i] = fillByte
		}
		made.outputs = append(made.outputs, a)
		call.Out = append(call.Out, &Tensor{Array: a})
	}
	return call, made, nil
}

// read takes outputs and mutated inputs from the memory that came back: first that of the inputs, then that of the outputs.
func (b *bare) read(c *Case, call *Call, result *Result) (*bare, error) {
	at := 0
	next := func(a *ndarray.Array) (*ndarray.Array, error) {
		at++
		return ndarray.Of(a.DType, a.Shape, result.Buffers[at-1])
	}
	for i, v := range call.Inputs {
		x, ok := v.(*Tensor)
		if !ok {
			continue
		}
		after, err := next(x.Array)
		if err != nil {
			return nil, err
		}
		if c.Op.Inputs[i].Mutated {
			b.mutated = append(b.mutated, after)
		}
	}
	for i, o := range b.outputs {
		if o == nil {
			continue
		}
		var err error
		if b.outputs[i], err = next(o); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// cotangents are random gradients of the results, one for each that exists; name distinguishes their contents.
func (t *T) cotangents(c *Case, name string) ([]*ndarray.Array, error) {
	_, made, err := bareArguments(c)
	if err != nil {
		return nil, err
	}
	var out []*ndarray.Array
	for i, r := range made.results(c.Op) {
		rng := ndarray.Rand(fmt.Sprintf("cotangent/%s/%s/%d/%s", name, c.Op.Name, i, list(r.Shape)))
		out = append(out, ndarray.Random(rng, r.DType, r.Shape, ndarray.Contents{}))
	}
	return out, nil
}

// bareGradient calls the export of the gradient op with what the definition says that it takes. Gradients come one per
// input of the op, nil where there is none; forward are the results of the op itself.
func (t *T) bareGradient(c *Case, cotangents []*ndarray.Array) (forward, gradients []*ndarray.Array, err error) {
	first, err := t.bareCall(c)
	if err != nil {
		return nil, nil, err
	}
	plan := transform.GradientOf(c.Op)
	g := &Case{
		Op: plan.Op, Name: c.Name + ", gradient", DTypes: c.DTypes, Batch: c.Batch, Sizes: c.Sizes, Attrs: map[string]any{},
	}
	for _, name := range plan.Attrs {
		if v, given := c.Attrs[name]; given {
			g.Attrs[name] = v
		}
	}
	for _, operand := range plan.Operands {
		g.Inputs = append(g.Inputs, operandOf(c, first, cotangents, operand))
	}
	second, err := t.bareCall(g)
	if err != nil {
		return nil, nil, err
	}
	gradients = make([]*ndarray.Array, len(c.Inputs))
	for i, output := range plan.Grads {
		if output >= 0 {
			gradients[i] = second.outputs[output]
		}
	}
	return first.results(c.Op), gradients, nil
}

func operandOf(c *Case, forward *bare, cotangents []*ndarray.Array, operand transform.Operand) *ndarray.Array {
	switch operand.From {
	case transform.FromInput:
		return c.Inputs[operand.Index]
	case transform.FromOutput:
		return forward.outputs[operand.Index]
	}
	before := 0 // cotangents leave out the outputs that do not exist
	for _, o := range forward.outputs[:operand.Index] {
		if o != nil {
			before++
		}
	}
	if forward.outputs[operand.Index] == nil {
		return nil
	}
	return cotangents[before]
}

// present are the indices of the inputs that a case gives.
func present(c *Case) []int {
	var out []int
	for i, in := range c.Inputs {
		if in != nil {
			out = append(out, i)
		}
	}
	return out
}

// differentiable are the places, among the inputs that a case gives, of those that have a gradient.
func differentiable(c *Case) []int {
	plan := transform.GradientOf(c.Op)
	out := []int{}
	for place, i := range present(c) {
		if plan != nil && plan.Grads[i] >= 0 {
			out = append(out, place)
		}
	}
	return out
}

// chosen are the gradients at places among the given inputs.
func chosen(c *Case, gradients []*ndarray.Array, places []int) []*ndarray.Array {
	given := present(c)
	var out []*ndarray.Array
	for _, place := range places {
		out = append(out, gradients[given[place]])
	}
	return out
}

// given are the arrays of a case as arguments.
func given(c *Case) []*Tensor {
	return tensorsOf(slices.DeleteFunc(slices.Clone(c.Inputs), func(a *ndarray.Array) bool { return a == nil }))
}

func tensorsOf(list []*ndarray.Array) []*Tensor {
	out := []*Tensor{}
	for _, a := range list {
		out = append(out, &Tensor{Array: a})
	}
	return out
}

// stack puts arrays of one shape side by side along a new axis, which is 0 or -1 (the last).
func stack(list []*ndarray.Array, like *ndarray.Array, axis int) *ndarray.Array {
	n := int64(len(list))
	out := ndarray.New(like.DType, slices.Concat([]int64{n}, like.Shape))
	for i, a := range list {
		copy(out.Data[int64(i)*a.Len()*ndarray.ItemSize(a.DType):], a.Bytes())
	}
	if axis == 0 {
		return out
	}
	return (&ndarray.Array{
		DType: out.DType, Shape: append(slices.Clone(like.Shape), n), Strides: append(slices.Clone(out.Strides[1:]), out.Strides[0]),
		Data: out.Data,
	}).Dense()
}
