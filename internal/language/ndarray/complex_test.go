package ndarray

import (
	"math"
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/language/dtype"
)

// The parts of complex numbers lie in the memory of these, also where that has gaps.
func TestParts(t *testing.T) {
	values := []float64{1, -2, 0.5, 4, 3, 0, -1, 8}
	for _, short := range []string{"c64", "c128"} {
		d := dtype.Must(short)
		a := FromFloats(d, []int64{2, 2}, values)
		if got := a.Floats(); a.Len() != 4 || !slices.Equal(got, values) {
			t.Errorf("%s: got %v", short, got)
		}
		view := &Array{DType: d, Shape: []int64{2}, Strides: []int64{-2}, Offset: 3, Data: a.Data}
		parts := view.Parts()
		if got := parts.Floats(); !slices.Equal(parts.Shape, []int64{2, 2}) || !slices.Equal(got, []float64{-1, 8, 0.5, 4}) {
			t.Errorf("%s: parts %v of shape %v", short, got, parts.Shape)
		}
		if got := view.Dense().Floats(); !slices.Equal(got, parts.Floats()) {
			t.Errorf("%s: dense, they are %v", short, got)
		}
		if got := Full(d, []int64{2}, 7).Floats(); !slices.Equal(got, []float64{7, 0, 7, 0}) {
			t.Errorf("%s: full of %v", short, got)
		}
		if got := Text(d, a.Data, 1); got != "0.5+4j" {
			t.Errorf("%s: printed %s", short, got)
		}
		drawn := Random(Rand("parts"), d, []int64{500}, Contents{}).Floats()
		sum, product := 0.0, 0.0
		for i := 0; i < len(drawn); i += 2 {
			sum += drawn[i+1] * drawn[i+1]
			product += drawn[i] * drawn[i+1]
		}
		if len(drawn) != 1000 || math.Abs(sum/500-1) > 0.2 || math.Abs(product/500) > 0.2 {
			t.Errorf("%s: imaginary parts of variance %v and covariance %v", short, sum/500, product/500)
		}
	}
	if a := FromFloats(dtype.Must("f32"), []int64{2}, []float64{1, 2}); a.Parts() != a {
		t.Error("a real array has no parts")
	}
}
