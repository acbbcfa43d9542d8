package fake

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/conformance/oracle"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef/expr"
)

// farCall is the call that a probe of distant rows makes; other calls stay as they are.
func farCall(call *calls.Call) *calls.Call {
	if call.Probe != check.GroupWatch+".far" {
		return call
	}
	i, axis := call.Options["input"].(int64), call.Options["axis"].(int64)
	if !isBareCall(call) && !call.Op.Inputs[i].Mutated {
		return call // adaptors copy what is not dense
	}
	x := call.Inputs[i].(*calls.Tensor)
	if call.Op.Inputs[i].Stride == "any" || call.Op.Inputs[i].Stride == "last" {
		return call // whatever the distance, the elements are the same
	}
	far := call.Clone()
	far.Inputs[i] = &calls.Tensor{Array: &ndarray.Array{
		DType: x.DType, Shape: x.Shape, Strides: slices.Clone(ndarray.DenseStrides(x.Shape)), Data: x.Data,
	}}
	far.Inputs[i].(*calls.Tensor).Strides[axis] = call.Options["stride"].(int64)
	return far
}

// isBareCall reports whether the memory of the results comes with the call.
func isBareCall(call *calls.Call) bool { return call.Out != nil }

// watch adds what the probes of GroupWatch note.
func watch(r *calls.Result, f *Framework, call *calls.Call) {
	switch call.Probe {
	case check.GroupWatch + ".pointers":
		var seen, inputs, outputs []any
		place := func(x *calls.Tensor) any {
			if i := call.TensorIndex(x); x != nil && i >= 0 && i < len(r.Spans) {
				return float64(r.Spans[i][0])
			}
			return 0.0
		}
		for i := range call.Op.Outputs {
			var x *calls.Tensor
			if call.Out != nil {
				x = call.Out[i]
			}
			if calls.IsBare(f) || !call.Op.Outputs[i].Saved {
				outputs = append(outputs, place(x))
			}
			seen = append(seen, place(x))
		}
		for _, v := range call.Inputs {
			x, _ := v.(*calls.Tensor)
			seen, inputs = append(seen, place(x)), append(inputs, place(x))
		}
		r.Notes = map[string]any{"seen": seen, "inputs": inputs, "outputs": outputs}
	case check.GroupWatch + ".warnings":
		list := []any{}
		if d := call.Op.Deprecated; d != "" {
			list = append(list, []any{"DeprecationWarning", call.Op.Name + " is deprecated: " + d, true})
		}
		r.Notes = map[string]any{"warnings": list}
	}
}

// ContentsError is the text with which a library that looks at contents refuses a case; empty if it does not.
func ContentsError(c *cases.Case) string {
	for i := range c.Op.Inputs {
		in := &c.Op.Inputs[i]
		if c.Inputs[i] == nil {
			continue
		}
		begins := c.Op.Name + ": " + in.Name + ": expected "
		before := 0.0
		for k, v := range c.Inputs[i].Floats() {
			for _, bound := range []struct {
				expr  *expr.Expr
				words string
				sign  float64
			}{{in.Min, "at least ", 1}, {in.Max, "at most ", -1}} {
				if bound.expr == nil {
					continue
				}
				if limit, err := bound.expr.EvalFloat(c); err == nil && bound.sign*v < bound.sign*limit {
					return fmt.Sprintf("%svalues of %s%s, got %v at [%d]", begins, bound.words, oracle.FormatFloat(limit), v, k)
				}
			}
			if in.Sorted && k > 0 && v < before {
				return fmt.Sprintf("%sascending values, got %v after %v at [%d]", begins, v, before, k)
			}
			before = v
		}
	}
	return ""
}
