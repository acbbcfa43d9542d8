package check

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// rangeHint is what an author may have forgotten where a call fails: integers are negative unless the definition gives them
// a range. It is a line of its own, or "".
func rangeHint(call *calls.Call) string {
	if call == nil {
		return ""
	}
	for i, v := range call.Inputs[:min(len(call.Inputs), len(call.Op.Inputs))] {
		x, isArray := v.(*calls.Tensor)
		if !isArray || call.Op.Inputs[i].Min != nil || call.Op.Inputs[i].Packs != "" || ndarray.IsFloat(x.DType) || x.DType.Inexact() || x.Device != "" {
			continue
		}
		if hasElements(x) && slices.ContainsFunc(x.Floats(), func(v float64) bool { return v < 0 }) {
			return fmt.Sprintf("\n  %s has negative values here: give it min = 0 in the definition if the op takes none", call.Op.Inputs[i].Name)
		}
	}
	return ""
}

// hasElements reports whether the memory of an array has what its shape claims.
func hasElements(x *calls.Tensor) bool {
	high := x.Offset
	for i, n := range x.Shape {
		if n < 0 || n > int64(len(x.Data)) {
			return false
		}
		high += max((n-1)*x.Strides[i], 0)
	}
	return x.Len() > 0 && high >= 0 && (high+1)*ndarray.ItemSize(x.DType) <= int64(len(x.Data))
}
