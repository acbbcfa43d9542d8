package oracle_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// Of a value that the dtype of the result does not have, only what a conversion may make of it is accepted.
func TestUnrepresentableValues(t *testing.T) {
	for _, test := range []struct {
		dtype     string
		want, got float64
		right     bool
	}{
		{"i8", math.NaN(), 5, true}, {"i8", math.Inf(1), -128, true}, {"u8", 1.5e17, 3, true}, {"i8", -129, 127, true},
		{"i8", 127, 5, false}, {"u8", -1, 255, true}, {"i64", 0x1p63, 0, true}, {"i64", -0x1p63, 0, false}, {"bool", 7, 1, true},
		{"f8e4m3fn", math.Inf(1), math.NaN(), true}, {"f8e4m3fn", math.Inf(1), 448, true}, {"f8e4m3fn", math.Inf(1), -448, false},
		{"f8e4m3fn", -1e9, -448, true}, {"f8e4m3fn", 1e9, 1, false}, {"f8e4m3fn", 1, math.NaN(), false}, {"f8e4m3fn", math.NaN(), 448, false},
		{"f8e4m3fnuz", math.Inf(-1), math.NaN(), true}, {"f8e4m3fnuz", math.Inf(-1), -240, true},
		{"f8e8m0fnu", 0, 0x1p-127, true}, {"f8e8m0fnu", -3, 4, true}, {"f8e8m0fnu", 4, 16, false}, {"f8e8m0fnu", math.Inf(1), math.NaN(), true},
		{"f4e2m1fn", 7.9, 6, true}, {"f4e2m1fn", 7.9, -6, false}, {"f4e2m1fn", math.NaN(), 1, true}, {"f4e2m1fn", 6, 3, false},
		{"f8e5m2", math.Inf(1), 57344, false}, {"f16", math.Inf(1), math.NaN(), false}, {"f32", math.NaN(), 0, false},
		{"f8e4m3fn", 448, math.NaN(), false}, {"f8e4m3fn", 463, math.NaN(), true}, {"f16", 65504, math.Inf(1), false}, {"f16", 65519, math.Inf(1), true},
		{"f16", 65504, 65472, true},
	} {
		d := dtype.Must(test.dtype)
		got := ndarray.FromFloats(d, []int64{1}, []float64{test.got})
		text := oracle.Compare("y", got, oracle.Expected{Shape: []int64{1}, Values: []float64{test.want}}, oracle.Tolerance{ULPs: 1})
		if (text == "") != test.right {
			t.Errorf("%s, %v for %v: %q", test.dtype, test.got, test.want, text)
		}
	}
}

// An element that holds several numbers is compared number by number, each rounded to nearest: swapped halves show, and so does another
// rounding.
func TestPackedNumbers(t *testing.T) {
	for _, test := range []struct {
		values []float64
		bytes  []byte
		text   string
	}{
		{[]float64{0.6, 1.7501, -6.4, 0.25}, []byte{0x41, 0x0f}, ""}, // 0.5, 2, -6, 0
		{[]float64{0.6, 1.7501, -6.4, 0.25}, []byte{0x41, 0x1f}, ""}, // a tie: either is nearest
		{[]float64{0.6, 1.7501, -6.4, 0.25}, []byte{0x14, 0x0f}, "y[0]: got 2, want 0.6"},
		{[]float64{0.6, 1.7501, -6.4, 0.25}, []byte{0x31, 0x0f}, "y[1]: got 1.5, want 1.75"},
		{[]float64{0.6, 1.7501, -6.4, 0.25}, []byte{0x42, 0x0f}, "y[0]: got 1, want 0.6"},
		{[]float64{4, 2, 5, 1}, []byte{0x46, 0x27}, ""},
		{[]float64{4, 2, 5, 1}, []byte{0x45, 0x27}, "y[0]: got 3, want 4"}, // half of the spacing above
		{[]float64{4, 2, 5, 1}, []byte{0x36, 0x27}, "y[1]: got 1.5, want 2"},
	} {
		got, err := ndarray.Of(dtype.Must("u8"), []int64{2}, test.bytes)
		if err != nil {
			t.Fatal(err)
		}
		want := oracle.Expected{Shape: []int64{4}, Values: test.values, Packs: "f4e2m1fn"}
		text := oracle.Compare("y", got, want, oracle.Tolerance{ULPs: 0.5, Rel: 1e-8})
		if (text == "") != (test.text == "") || !strings.HasPrefix(text, test.text) {
			t.Errorf("%x for %v: got %q, want %q", test.bytes, test.values, text, test.text)
		}
		if again := want.Rounded(dtype.Must("u8")); oracle.Compare("y", again, want, oracle.Tolerance{ULPs: 0.5}) != "" {
			t.Errorf("%v: the rounded answer %x is refused", test.values, again.Data)
		}
	}
}

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

// The tolerance of a definition counts for integers, too, and what is just beyond it is found.
func TestIntegerTolerance(t *testing.T) {
	d := dtype.Must("i8")
	for _, test := range []struct {
		name       string
		got        int64
		want       float64
		bound      oracle.Tolerance
		pass, next bool
	}{
		{"exact", 5, 5, oracle.Tolerance{}, true, true},
		{"off by one without a tolerance", 6, 5, oracle.Tolerance{}, false, true},
		{"within atol", 6, 5, oracle.Tolerance{Abs: 1}, true, true},
		{"beyond atol", 7, 5, oracle.Tolerance{Abs: 1}, false, true},
		{"within rtol", -110, -100, oracle.Tolerance{Rel: 0.1}, true, true},
		{"beyond rtol", -111, -100, oracle.Tolerance{Rel: 0.1}, false, true},
		{"all that there is", -128, 127, oracle.Tolerance{Abs: 300}, true, false},
	} {
		want := oracle.Expected{Shape: []int64{1}, Values: []float64{test.want}}
		text := oracle.Compare("y", ndarray.FromFloats(d, []int64{1}, []float64{float64(test.got)}), want, test.bound)
		if (text == "") != test.pass {
			t.Errorf("%s: %q", test.name, text)
		}
		wrong, ok := want.NextInteger(d, 0, test.bound)
		if ok != test.next || ok && oracle.Compare("y", wrong.Array, want, test.bound) == "" {
			t.Errorf("%s: the next wrong number is %+v, %v", test.name, wrong, ok)
		}
	}
}

// Where the reference in float32 is off, a result may be, too; what is far off is found whatever the reference loses.
func TestWidened(t *testing.T) {
	d, bound := dtype.Must("f32"), oracle.Tolerance{ULPs: 4}
	want := oracle.Expected{Shape: []int64{1}, Values: []float64{1}}
	for _, test := range []struct{ narrow, ulps float64 }{{1, 16}, {1 + 1.0/(1<<22), 32}, {1.5, 256}, {math.NaN(), 256}} {
		narrow := oracle.Expected{Shape: []int64{1}, Values: []float64{test.narrow}}
		if got := oracle.Widened(bound, d, want, narrow); got != (oracle.Tolerance{ULPs: test.ulps}) {
			t.Errorf("%v: got %v, want %v ulp", test.narrow, got, test.ulps)
		}
	}
}

// Each part of a complex number may be off as its larger part may, and no more; messages show whole numbers.
func TestComplexNumbers(t *testing.T) {
	const part = 0x1p-23 // a spacing at 1
	want := oracle.Expected{Shape: []int64{2, 2}, Values: []float64{1, 0x1p-20, -0x1p-20, 1}, Complex: true}
	for _, test := range []struct {
		off  [4]float64
		text string
	}{
		{[4]float64{}, ""},
		{[4]float64{part, 4 * part, -4 * part, part}, ""},
		{[4]float64{0, 5 * part}, "y[0]: got 1+1.5497207641601562e-06j, want 1+9.5367431640625e-07j (5 ulp, allowed 4 ulp); 1 of 2 elements differ"},
		{[4]float64{0, 0, 0, -2}, "y[1]: got -9.5367431640625e-07-1j, want -9.5367431640625e-07+1j"},
		{[4]float64{0, 0, math.NaN(), 0}, "y[1]: got NaN+1j, want -9.5367431640625e-07+1j"},
	} {
		values := make([]float64, 4)
		for i, v := range want.Values {
			values[i] = v + test.off[i]
		}
		got := ndarray.FromFloats(dtype.Must("c64"), []int64{2}, values)
		text := oracle.Compare("y", got, want, oracle.Tolerance{ULPs: 4})
		if !strings.HasPrefix(text, test.text) || (text == "") != (test.text == "") {
			t.Errorf("off by %v: %q", test.off, text)
		}
	}
	if text := oracle.Compare("y", want.Rounded(dtype.Must("c128")), want, oracle.Tolerance{}); text != "" {
		t.Error(text)
	}
}
