package random

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// corrupt has the process that calls pass something that no array of ours can be.
func corrupt(call *calls.Call, rng *rand.Rand) {
	ways := append(slices.Sorted(maps.Keys(otherTypes)), CorruptNull, CorruptNegative, CorruptMissing, CorruptTwice)
	call.Probe = GroupCorrupt + "." + CorruptCall
	call.Options = map[string]any{"at": rng.Int64N(64), "as": ways[rng.IntN(len(ways))]}
}

// invalidate changes one argument of a call.
func invalidate(call *calls.Call, rng *rand.Rand) {
	i := rng.IntN(len(call.Inputs))
	x, isArray := call.Inputs[i].(*calls.Tensor)
	if !isArray {
		call.Inputs[i] = &calls.Tensor{Array: ndarray.New(dtype.Must("f32"), []int64{2})}
		return
	}
	switch rng.IntN(9) {
	case 0:
		call.Inputs[i] = nil
	case 1:
		d := dtype.Table[rng.IntN(len(dtype.Table))]
		if d.Bits >= 8 && affordable(x) {
			call.Inputs[i] = &calls.Tensor{Array: ndarray.New(d, x.Shape)}
		}
	case 2:
		call.Inputs[i] = &calls.Tensor{Array: ndarray.New(x.DType, randomShape(rng))}
	case 3:
		call.Inputs[i] = resized(x, rng)
	case 4:
		if !affordable(x) || int64(len(x.Data)) < x.Len()*ndarray.ItemSize(x.DType) {
			return // there is nothing to lay out
		}
		if view := ndarray.Layouts[rng.IntN(len(ndarray.Layouts))].Apply(x.Array); view != nil {
			call.Inputs[i] = &calls.Tensor{Array: view}
		}
	case 5:
		invalidateMemory(call, i, rng)
	case 6, 7:
		invalidateOutput(call, rng)
	default:
		invalidateAttr(call, rng)
	}
}

func randomShape(rng *rand.Rand) []int64 {
	shape := []int64{}
	for range rng.IntN(5) {
		shape = append(shape, rng.Int64N(6))
	}
	return shape
}

// resized is an array over the same memory that claims another size, perhaps a huge one.
func resized(x *calls.Tensor, rng *rand.Rand) *calls.Tensor {
	if x.Rank() == 0 {
		return x
	}
	shape := slices.Clone(x.Shape)
	at := rng.IntN(len(shape))
	shape[at] = []int64{0, shape[at] + 1, max(shape[at]-1, 0), 1 << 40, 1<<62 - 1}[rng.IntN(5)]
	return &calls.Tensor{Array: &ndarray.Array{DType: x.DType, Shape: shape, Strides: x.Strides, Offset: x.Offset, Data: x.Data}}
}

// invalidateMemory puts an input into the memory of another argument.
func invalidateMemory(call *calls.Call, i int, rng *rand.Rand) {
	list := call.Tensors()
	x, other := call.Inputs[i].(*calls.Tensor), list[rng.IntN(len(list))]
	if other == x || !affordable(x) || int64(len(other.Data)) < x.Len()*ndarray.ItemSize(x.DType) || len(other.Data) == 0 {
		return
	}
	call.Inputs[i] = &calls.Tensor{Array: &ndarray.Array{DType: x.DType, Shape: x.Shape, Strides: ndarray.DenseStrides(x.Shape), Data: other.Data}}
}

// invalidateOutput changes an output array.
func invalidateOutput(call *calls.Call, rng *rand.Rand) {
	if len(call.Out) == 0 {
		return
	}
	i := rng.IntN(len(call.Out))
	o := call.Out[i]
	switch rng.IntN(4) {
	case 0:
		call.Out[i] = nil
	case 1:
		call.Out[i] = &calls.Tensor{Array: ndarray.New(dtype.Must("f32"), randomShape(rng))}
	case 2:
		if o != nil {
			call.Out[i] = resized(o, rng)
		}
	default:
		call.Out[i] = call.Out[rng.IntN(len(call.Out))]
	}
}

// invalidateAttr gives an attr a value of a random type.
func invalidateAttr(call *calls.Call, rng *rand.Rand) {
	list := slices.DeleteFunc(slices.Clone(call.Op.Attrs), func(a opdef.Attr) bool { return a.Binds != "" })
	if len(list) == 0 {
		return
	}
	a := list[rng.IntN(len(list))]
	values := []any{int64(-1), int64(1) << 62, 1.5, -1e300, true, "nonsense"}
	v := values[rng.IntN(len(values))]
	if n, isInt := v.(int64); isInt && a.Len != 0 {
		v = slices.Repeat([]int64{n}, max(a.Len, 1))
	}
	call.Attrs[a.Name] = v
}
