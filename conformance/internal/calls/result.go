package calls

import (
	"encoding/json"
	"fmt"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/system/rpc"
)

// wireResult is the answer to a call.
type wireResult struct {
	Unsupported string
	Error       *CallError
	Calls       int64
	Notes       map[string]any
	Outputs     []struct {
		None    bool
		DType   string
		Shape   []int64
		Strides []int64
		Span    [2]uint64
		Device  string
		Data    bool
		Given   int
		Same    int
	}
	Arrays []struct {
		Index int
		Span  [2]uint64
	}
}

// ReadResult turns an answer into a Result. tensors are the array arguments of the call.
func ReadResult(m rpc.Message, tensors []*Tensor) (*Result, error) {
	var w wireResult
	if err := json.Unmarshal(m.Header, &w); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	r := &Result{Unsupported: w.Unsupported, Error: w.Error, Launches: w.Calls, Notes: w.Notes}
	if r.Unsupported != "" {
		return r, nil
	}
	r.Buffers, r.Spans = make([][]byte, len(tensors)), make([][2]uint64, len(tensors))
	for i, a := range w.Arrays {
		if a.Index >= len(tensors) {
			continue // one that the call has beside its arguments
		}
		r.Buffers[a.Index], r.Spans[a.Index] = m.Blobs[len(w.Outputs)+i], a.Span
	}
	for i, o := range w.Outputs {
		if o.None {
			r.Outputs = append(r.Outputs, Output{})
			continue
		}
		d, known := dtype.LookupLong(o.DType)
		if !known {
			d = dtype.DType{Long: o.DType}
		}
		out := Output{Strides: o.Strides, Device: o.Device, Abstract: !o.Data, OutIndex: o.Given, ArgumentIndex: o.Same, Span: o.Span}
		if data := m.Blobs[i]; known && o.Data {
			var err error
			if out.Array, err = ndarray.Of(d, o.Shape, data); err != nil {
				return nil, fmt.Errorf("read output %d: %w", i, err)
			}
		} else {
			out.Array = &ndarray.Array{DType: d, Shape: o.Shape, Strides: ndarray.DenseStrides(o.Shape)}
		}
		r.Outputs = append(r.Outputs, out)
	}
	return r, nil
}
