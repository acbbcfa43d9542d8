package conformance

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/rpc"
)

// arrays are the array arguments of one call of a transformed op.
type arrays struct {
	// inputs has one entry for each input that the call gives; cotangents one for each result that exists.
	inputs, cotangents []*Tensor
}

// transformation asks a framework to transform an op in some way and to call what comes out.
type transformation struct {
	// way names a function of the worker.
	way string
	// call says which inputs are given, and the attrs. The arrays themselves come with each of calls.
	call    *Call
	calls   []arrays
	options map[string]any
	// kernel is the variant of the op that is forced; empty forces none.
	kernel string
}

// transformed is what came of a transformation.
type transformed struct {
	Unsupported string
	// Error is one outside of any call, while the op was being transformed.
	Error *CallError
	Calls []transformedCall
	// Facts are what the framework tells beside results, as JSON.
	Facts json.RawMessage
}

// transformedCall is one call of a transformed op.
type transformedCall struct {
	Error *CallError
	// Outputs are the arrays, flat; the Array of one that does not exist is nil.
	Outputs []Output
	// Launches counts kernels by op: the op itself and its gradient.
	Launches map[string]int64
}

// transformer is a caller that can transform ops.
type transformer interface {
	Transform(ctx context.Context, x *transformation) (*transformed, error)
}

// Transform asks the worker.
func (r *remote) Transform(ctx context.Context, x *transformation) (*transformed, error) {
	request, blobs := transformRequest(x)
	m, err := r.worker.Call(ctx, request, blobs)
	if err != nil {
		return nil, err
	}
	return readTransformed(m)
}

// transformRequest is the request that worker/transform.py reads.
func transformRequest(x *transformation) (map[string]any, [][]byte) {
	p := &packer{}
	args, slots := []tagged{}, 0
	for _, v := range x.call.Inputs {
		if _, ok := v.(*Tensor); ok {
			args = append(args, tagged{"slot": slots})
			slots++
		} else {
			args = append(args, p.value(v))
		}
	}
	kwargs := map[string]tagged{}
	for name, v := range x.call.Attrs {
		kwargs[name] = p.value(v)
	}
	calls := []map[string][]tagged{}
	for _, c := range x.calls {
		calls = append(calls, map[string][]tagged{"inputs": p.tensors(c.inputs), "cotangents": p.tensors(c.cotangents)})
	}
	watched := []string{x.call.Op.Name}
	if g := x.call.Op.Gradient; g != nil {
		watched = append(watched, g.Name)
	}
	options := x.options
	if options == nil {
		options = map[string]any{}
	}
	return map[string]any{
		"do": "transform", "op": x.call.Op.Name, "way": x.way, "args": args, "kwargs": kwargs, "calls": calls,
		"options": options, "watched": watched, "kernel": x.kernel,
	}, p.blobs
}

// tensors tags arrays; nil ones are none.
func (p *packer) tensors(list []*Tensor) []tagged {
	out := []tagged{}
	for _, x := range list {
		if x == nil {
			out = append(out, p.value(nil))
		} else {
			out = append(out, p.array(x))
		}
	}
	return out
}

// wireOutput is the description of a result.
type wireOutput struct {
	None    bool
	DType   string
	Shape   []int64
	Strides []int64
	Device  string
	Data    bool
	Span    [2]uint64
}

// read makes the result of its bytes.
func (w *wireOutput) read(data []byte) (Output, error) {
	d, known := longLookup(w.DType)
	if !known {
		d = dtype.DType{Long: w.DType}
	}
	out := Output{Strides: w.Strides, Device: w.Device, Abstract: !w.Data, Given: -1, Span: w.Span}
	if !known || !w.Data {
		out.Array = &ndarray.Array{DType: d, Shape: w.Shape, Strides: ndarray.DenseStrides(w.Shape)}
		return out, nil
	}
	var err error
	out.Array, err = ndarray.Of(d, w.Shape, data)
	return out, err
}

func readTransformed(m rpc.Message) (*transformed, error) {
	var w struct {
		Unsupported string
		Error       *CallError
		Facts       json.RawMessage
		Calls       []struct {
			Error    *CallError
			Outputs  []wireOutput
			Launches map[string]int64
		}
	}
	if err := json.Unmarshal(m.Header, &w); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	out := &transformed{Unsupported: w.Unsupported, Error: w.Error, Facts: w.Facts}
	blob := 0
	for _, c := range w.Calls {
		made := transformedCall{Error: c.Error, Launches: c.Launches}
		for i := range c.Outputs {
			if c.Outputs[i].None {
				made.Outputs = append(made.Outputs, Output{})
				continue
			}
			o, err := c.Outputs[i].read(m.Blobs[blob])
			if err != nil {
				return nil, fmt.Errorf("read output %d: %w", i, err)
			}
			blob++
			made.Outputs = append(made.Outputs, o)
		}
		out.Calls = append(out.Calls, made)
	}
	return out, nil
}
