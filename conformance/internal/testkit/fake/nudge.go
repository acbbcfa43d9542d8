package fake

import (
	"math"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// Nudge moves the last element of the result by six spacings: more than float32 may be off.
func Nudge(r *calls.Result) {
	if len(r.Outputs) == 0 || r.Outputs[0].Len() == 0 {
		return
	}
	o := r.Outputs[0]
	last := o.Len() - 1
	v := ndarray.GetFloat(o.DType, o.Data, last)
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		ndarray.PutFloat(o.DType, o.Data, last, v+6*ndarray.Spacing(o.DType, v))
	}
}
