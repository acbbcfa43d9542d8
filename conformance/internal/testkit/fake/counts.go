package fake

import (
	"math"
	"math/big"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// ToyIntegers are the results of the toy op of integers without overflow, one list per slot; nil for the other ops.
func ToyIntegers(c *cases.Case) [][]*big.Int {
	if c.Op.Name != "counts" {
		return nil
	}
	x, w, n := c.Inputs[0].Ints(), c.Inputs[1].Ints(), int(c.Sizes["N"])
	var sums, total []*big.Int
	for i, v := range x {
		if i%n == 0 {
			total = append(total, new(big.Int))
		}
		sums = append(sums, new(big.Int).Add(v, w[i%n]))
		total[i/n].Add(total[i/n], v)
	}
	for n == 0 && int64(len(total)) < count(c.Batch) {
		total = append(total, new(big.Int))
	}
	return [][]*big.Int{sums, total, c.Inputs[2].Ints()}
}

// rounded are integers as numbers of floating point.
func rounded(values [][]*big.Int) [][]float64 {
	out := make([][]float64, len(values))
	for i, list := range values {
		out[i] = []float64{}
		for _, v := range list {
			f, _ := new(big.Float).SetInt(v).Float64()
			out[i] = append(out[i], f)
		}
	}
	return out
}

// number is the array that a number stands for.
func number(short string, v any) *ndarray.Array {
	if scalar, ok := v.(calls.NumPyNumber); ok {
		v = scalar.Value
	}
	value, _ := cases.ToFloat(v)
	return ndarray.FromFloats(dtype.Must(short), []int64{}, []float64{value})
}

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
