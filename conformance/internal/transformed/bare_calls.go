package transformed

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
)

// bareResult is what the bare backend computes: the outputs as declared, saved ones too, nil where they do not exist,
// then the mutated inputs.
type bareResult struct {
	outputs, mutated []*ndarray.Array
}

// Results are what a public call gives, without the ones that do not exist.
func (b *bareResult) Results(op *opdef.Op) []*ndarray.Array {
	var out []*ndarray.Array
	for i, a := range b.outputs {
		if a != nil && !op.Outputs[i].Saved {
			out = append(out, a)
		}
	}
	return append(out, b.mutated...)
}

// BareCall calls the backend's export with nothing in between.
func BareCall(t *check.T, c *cases.Case) (*bareResult, error) {
	backend := t.Env.Caller(calls.BackendName)
	if backend == nil {
		return nil, check.Skip("the backend cannot be called")
	}
	call := calls.New(c)
	var err error
	if call.Out, err = calls.PoisonedOutputs(c, true); err != nil {
		return nil, err
	}
	if err := call.AddScratch(backend, c); err != nil {
		return nil, err
	}
	call.Kernel = kernelOf(t, c.Op)
	result, err := backend.Call(t.Ctx, call)
	if err != nil {
		return nil, err
	}
	if err := t.Declined(call, result); err != nil {
		return nil, err
	}
	if result.Error != nil {
		return nil, fmt.Errorf("the backend refused %s: %s: %s", c.Name, result.Error.Class, result.Error.Text)
	}
	return readBare(c, call, result), nil
}

// kernelOf is the kernel that is forced in calls of an op: that of the present row.
func kernelOf(t *check.T, op *opdef.Op) string {
	if op == t.Op {
		return t.ForcedKernel()
	}
	return ""
}

// readBare takes outputs and mutated inputs from the memory that came back.
func readBare(c *cases.Case, call *calls.Call, result *calls.Result) *bareResult {
	after := func(x *calls.Tensor) *ndarray.Array {
		view := *x.Array
		view.Data = result.Buffers[call.TensorIndex(x)]
		return view.Dense()
	}
	b := &bareResult{}
	for i, v := range call.Inputs {
		if x, ok := v.(*calls.Tensor); ok && c.Op.Inputs[i].Mutated {
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

// RandomCotangents are random gradients of the results, one for each that exists; name distinguishes their contents.
func RandomCotangents(t *check.T, c *cases.Case, name string) ([]*ndarray.Array, error) {
	results, err := c.ZeroResults()
	if err != nil {
		return nil, err
	}
	var out []*ndarray.Array
	for i, r := range (&bareResult{outputs: results[:len(c.Op.Outputs)]}).Results(c.Op) {
		rng := ndarray.Rand(fmt.Sprintf("cotangent/%s/%s/%d/%s", name, c.Op.Name, i, rule.List(r.Shape)))
		out = append(out, ndarray.Random(rng, r.DType, r.Shape, ndarray.Contents{}))
	}
	return out, nil
}

// BareGradient calls the export of the gradient op with what the definition says that it takes. Gradients come one per
// input of the op, nil where there is none; forward are the results of the op itself.
func BareGradient(t *check.T, c *cases.Case, cotangents []*ndarray.Array) (forward, gradients []*ndarray.Array, err error) {
	first, err := BareCall(t, c)
	if err != nil {
		return nil, nil, err
	}
	plan := transform.GradientOf(c.Op)
	second, err := BareCall(t, c.Gradient(plan, first.outputs, first.cotangents(cotangents)))
	if err != nil {
		return nil, nil, err
	}
	gradients = make([]*ndarray.Array, len(c.Inputs))
	for i, output := range plan.Grads {
		if output < 0 {
			continue
		}
		gradients[i] = second.outputs[output]
		if gradients[i] != nil && c.Op.Inputs[i].Type.Lead() == opdef.Broadcast {
			if gradients[i], err = c.Summed(gradients[i], &c.Op.Inputs[i]); err != nil {
				return nil, nil, err
			}
		}
	}
	return first.Results(c.Op), gradients, nil
}

// cotangents gives each output its cotangent, of a list that leaves out the outputs that do not exist.
func (b *bareResult) cotangents(list []*ndarray.Array) []*ndarray.Array {
	out := make([]*ndarray.Array, len(b.outputs))
	for i, o := range b.outputs {
		if o != nil && len(list) > 0 {
			out[i], list = list[0], list[1:]
		}
	}
	return out
}

// DifferentiableInputs are the places, among the inputs that a case gives, of those that have a gradient.
func DifferentiableInputs(c *cases.Case) []int {
	plan := transform.GradientOf(c.Op)
	out := []int{}
	for place, i := range cases.GivenInputs(c) {
		if plan != nil && plan.Grads[i] >= 0 {
			out = append(out, place)
		}
	}
	return out
}

// GradientsAt are the gradients at places among the given inputs.
func GradientsAt(c *cases.Case, gradients []*ndarray.Array, places []int) []*ndarray.Array {
	given := cases.GivenInputs(c)
	var out []*ndarray.Array
	for _, place := range places {
		out = append(out, gradients[given[place]])
	}
	return out
}

// Stack puts arrays of one shape side by side along a new axis, which is 0 or -1 (the last).
func Stack(list []*ndarray.Array, like *ndarray.Array, axis int) *ndarray.Array {
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
