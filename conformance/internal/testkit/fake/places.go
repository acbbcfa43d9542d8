package fake

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
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
	case check.GroupWatch + ".kept":
		r.Notes = map[string]any{"changed": []any{}}
	case check.GroupWatch + ".warnings":
		list := []any{}
		if d := call.Op.Deprecated; d != "" {
			list = append(list, []any{"DeprecationWarning", call.Op.Name + " is deprecated: " + d, true})
		}
		r.Notes = map[string]any{"warnings": list}
	}
}

// ContentsError is the text with which a library refuses a case for indices, or if it looks at all contents for any; empty if
// it does not.
func ContentsError(c *cases.Case, all bool) string {
	for i := range c.Op.Inputs {
		in := &c.Op.Inputs[i]
		if c.Inputs[i] == nil || !all && !c.Op.HasIndices(in) {
			continue
		}
		begins := c.Op.Name + ": " + in.Name + ": expected "
		limits, err := cases.LimitsOf(in, c)
		if err != nil {
			continue
		}
		x := c.Inputs[i].Dense()
		at, why := limits.Outside(x)
		if at < 0 {
			continue
		}
		text := ndarray.Text(x.DType, x.Data, at)
		switch why {
		case ndarray.TooLow:
			return fmt.Sprintf("%svalues of at least %s, got %s at [%d]", begins, in.Min.BoundText(limits.Min), text, at)
		case ndarray.TooHigh:
			return fmt.Sprintf("%svalues of at most %s, got %s at [%d]", begins, in.Max.BoundText(limits.Max), text, at)
		}
		return fmt.Sprintf("%sascending values, got %s after %s at [%d]", begins, text, ndarray.Text(x.DType, x.Data, at-1), at)
	}
	return ""
}
