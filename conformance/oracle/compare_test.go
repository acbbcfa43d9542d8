package oracle_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/oracle"
	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
)

// Integers are compared with all of their digits, as far as the reference has them.
func TestLargeIntegers(t *testing.T) {
	large := func(v int64, off int64) *big.Int { return new(big.Int).Add(big.NewInt(v), big.NewInt(off)) }
	for _, test := range []struct {
		name      string
		got, want *big.Int
		float     bool
		contains  string
	}{
		{"equal", large(1<<62, 1), large(1<<62, 1), false, ""},
		{"off by one", large(1<<62, 1), large(1<<62, 0), false, "got 4611686018427387905, want 4611686018427387904"},
		{"a reference in float64", large(1<<62, 1), large(1<<62, 0), true, ""},
		{"far from one", large(1<<62, 1<<40), large(1<<62, 0), true, "got 4611687117939015680, want 4611686018427387904"},
		{"a small one", large(-388, 0), large(-389, 0), false, "got -388, want -389"},
	} {
		value, _ := new(big.Float).SetInt(test.want).Float64()
		want := oracle.Expected{Shape: []int64{1}, Values: []float64{value}, Integers: []*big.Int{test.want}}
		if test.float {
			want.Integers = nil
		}
		text := oracle.Compare("y", ndarray.FromInts(dtype.Must("i64"), []int64{1}, []*big.Int{test.got}), want, oracle.Tolerance{})
		if (text == "") != (test.contains == "") || !strings.Contains(text, test.contains) {
			t.Errorf("%s: %q", test.name, text)
		}
	}
}
