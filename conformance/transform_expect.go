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
	call := newCall(c)
	var err error
	if call.Out, err = poisoned(c, true); err != nil {
		return nil, err
	}
	if err := call.workspace(backend, c); err != nil {
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
	return readBare(c, call, result), nil
}

// kernelOf is the kernel that is forced in calls of an op: that of the present row.
func (t *T) kernelOf(op *opdef.Op) string {
	if op == t.Op {
		return t.forced()
	}
	return ""
}

// readBare takes outputs and mutated inputs from the memory that came back.
func readBare(c *Case, call *Call, result *Result) *bare {
	after := func(x *Tensor) *ndarray.Array {
		view := *x.Array
		view.Data = result.Buffers[call.number(x)]
		return view.Dense()
	}
	b := &bare{}
	for i, v := range call.Inputs {
		if x, ok := v.(*Tensor); ok && c.Op.Inputs[i].Mutated {
			b.mutated = append(b.mutated, after(x))
		}
	}
	for _, o := range call.Out {
		if o == nil {
			b.outputs = append(b.outputs, nil)
		} else {
			b.outputs = append(b.outputs, after(o))
		}
	}
	return b
}

// cotangents are random gradients of the results, one for each that exists; name distinguishes their contents.
func (t *T) cotangents(c *Case, name string) ([]*ndarray.Array, error) {
	results, err := c.results()
	if err != nil {
		return nil, err
	}
	var out []*ndarray.Array
	for i, r := range (&bare{outputs: results[:len(c.Op.Outputs)]}).results(c.Op) {
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
	second, err := t.bareCall(c.gradient(plan, first.outputs, first.cotangents(cotangents)))
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

// cotangents gives each output its cotangent, of a list that leaves out the outputs that do not exist.
func (b *bare) cotangents(list []*ndarray.Array) []*ndarray.Array {
	out := make([]*ndarray.Array, len(b.outputs))
	for i, o := range b.outputs {
		if o != nil && len(list) > 0 {
			out[i], list = list[0], list[1:]
		}
	}
	return out
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
