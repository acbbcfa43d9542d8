package refusals

import (
	"math/big"
	"testing"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// What is beyond a bound is a value of the dtype: there is none beyond the greatest one.
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		dtype string
		bound int64
		step  int64
		there bool
	}{{"bool", 1, 1, false}, {"bool", 0, 1, true}, {"bool", 0, -1, false}, {"u8", 255, 1, false}, {"u8", 9, 1, true}, {"i8", -128, -1, false}, {"f32", 1, 1, true}} {
		x := ndarray.New(dtype.Must(c.dtype), []int64{3})
		if bad := beyond(x, big.NewRat(c.bound, 1), c.step); (bad != nil) != c.there {
			t.Errorf("%s beyond %d by %d: got %v, want one: %v", c.dtype, c.bound, c.step, bad, c.there)
		}
	}
}
