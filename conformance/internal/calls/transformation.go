package calls

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/system/rpc"
)

// Arrays are the array arguments of one call of a transformed op.
type Arrays struct {
	// Inputs has one entry for each input that the call gives; Cotangents one for each result that exists.
	Inputs, Cotangents []*Tensor
}

// Transformation asks a framework to transform an op in some way and to call what comes out.
type Transformation struct {
	// Method names a function of the worker.
	Method string
	// Call says which inputs are given, and the attrs. The arrays themselves come with each of calls.
	Call    *Call
	Calls   []Arrays
	Options map[string]any
	// Kernel is the variant of the op that is forced; empty forces none.
	Kernel string
}

// Transformed is what came of a transformation.
type Transformed struct {
	Unsupported string
	// Error is one outside of any call, while the op was being transformed.
	Error *CallError
	Calls []TransformedCall
	// Facts are what the framework tells beside results, as JSON.
	Facts json.RawMessage
}

// In is the call that was made in a way with the arrays of this number; nil where there is none.
func (r *Transformed) In(way string, arrays int) *TransformedCall {
	for i := range r.Calls {
		if r.Calls[i].Way != way {
			continue
		}
		if arrays--; arrays < 0 {
			return &r.Calls[i]
		}
	}
	return nil
}

// TransformedCall is one call of a transformed op.
type TransformedCall struct {
	// Way is the worker's name for how it was made; empty where there is one way only.
	Way   string
	Error *CallError
	// Outputs are the arrays, flat; the Array of one that does not exist is nil.
	Outputs []Output
	// Launches counts kernels by op: the op itself and its gradient.
	Launches map[string]int64
}

// Transformer is a caller that can transform ops.
type Transformer interface {
	Transform(ctx context.Context, x *Transformation) (*Transformed, error)
}

// TransformRequest is the request that worker/transform.py reads.
func TransformRequest(x *Transformation) (map[string]any, [][]byte) {
	p := &Packer{}
	args, slots := []Tagged{}, 0
	for _, v := range x.Call.Inputs {
		if _, ok := v.(*Tensor); ok {
			args = append(args, Tagged{"slot": slots})
			slots++
		} else {
			args = append(args, p.Value(v))
		}
	}
	kwargs := map[string]Tagged{}
	for name, v := range x.Call.Attrs {
		kwargs[name] = p.Value(v)
	}
	calls := []map[string][]Tagged{}
	for _, c := range x.Calls {
		calls = append(calls, map[string][]Tagged{"inputs": p.tensors(c.Inputs), "cotangents": p.tensors(c.Cotangents)})
	}
	watched := []string{x.Call.Op.Name}
	for _, op := range x.Call.Op.Derived() {
		watched = append(watched, op.Name)
	}
	options := x.Options
	if options == nil {
		options = map[string]any{}
	}
	return map[string]any{
		"do": "transform", "op": x.Call.Op.Name, "lists": ListsOf(x.Call.Op), "way": x.Method, "args": args, "kwargs": kwargs, "calls": calls,
		"options": options, "watched": watched, "kernel": x.Kernel,
	}, p.Blobs
}

// tensors tags arrays; nil ones are none.
func (p *Packer) tensors(list []*Tensor) []Tagged {
	out := []Tagged{}
	for _, x := range list {
		if x == nil {
			out = append(out, p.Value(nil))
		} else {
			out = append(out, p.Array(x))
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
	d, known := dtype.LookupLong(w.DType)
	if !known {
		d = dtype.DType{Long: w.DType}
	}
	out := Output{Strides: w.Strides, Device: w.Device, Abstract: !w.Data, OutIndex: -1, Span: w.Span}
	if !known || !w.Data {
		out.Array = &ndarray.Array{DType: d, Shape: w.Shape, Strides: ndarray.DenseStrides(w.Shape)}
		return out, nil
	}
	var err error
	out.Array, err = ndarray.Of(d, w.Shape, data)
	return out, err
}

// ReadTransformed reads a worker's answer to a transformation.
func ReadTransformed(m rpc.Message) (*Transformed, error) {
	var w struct {
		Unsupported string
		Error       *CallError
		Facts       json.RawMessage
		Calls       []struct {
			Way      string
			Error    *CallError
			Outputs  []wireOutput
			Launches map[string]int64
		}
	}
	if err := json.Unmarshal(m.Header, &w); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	out := &Transformed{Unsupported: w.Unsupported, Error: w.Error, Facts: w.Facts}
	blob := 0
	for _, c := range w.Calls {
		made := TransformedCall{Way: c.Way, Error: c.Error, Launches: c.Launches}
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
