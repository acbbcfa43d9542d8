package random

import (
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// What an array claims to be is compared with the memory that it has, not with the size that samples have: scratch may be
// larger than every sample.
func TestHasMemory(t *testing.T) {
	f32 := dtype.Must("f32")
	claims := func(held int64, shape []int64, strides ...int64) *calls.Tensor {
		x := ndarray.New(f32, []int64{held})
		x.Shape, x.Strides = shape, strides
		return &calls.Tensor{Array: x}
	}
	for name, test := range map[string]struct {
		array *calls.Tensor
		want  bool
	}{
		"what it has":            {claims(6, []int64{2, 3}, 3, 1), true},
		"no element":             {claims(0, []int64{0, 3}, 3, 1), true},
		"an element too many":    {claims(6, []int64{7}, 1), false},
		"a step too wide":        {claims(6, []int64{2, 3}, 4, 1), false},
		"one element many times": {claims(1, []int64{4, 3}, 0, 0), true},
		"larger than samples":    {claims(2*cases.MaxElements, []int64{2 * cases.MaxElements}, 1), true},
		"a huge size":            {claims(6, []int64{1 << 40}, 1), false},
		"a huge size of none":    {claims(6, []int64{0, 1<<62 - 1}, 1, 1), false},
		"a product that wraps":   {claims(6, []int64{1 << 40, 1 << 40}, 1, 1), false},
	} {
		if got := hasMemory(&calls.Call{Scratch: []*calls.Tensor{test.array}}); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
