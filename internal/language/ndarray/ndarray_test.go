package ndarray_test

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

func lookup(t *testing.T, short string) dtype.DType {
	t.Helper()
	d, ok := dtype.Lookup(short)
	if !ok {
		t.Fatalf("no dtype %q", short)
	}
	return d
}

func TestRoundToNearestEven(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		dtype    string
		in, want float64
	}{
		{"f16", 1 + 0x1p-11, 1},            // a tie goes to the even neighbour
		{"f16", 1 + 3*0x1p-11, 1 + 0x1p-9}, // also upwards
		{"f16", 65519, 65504},              // below the tie to infinity
		{"f16", 65520, inf},                // at the tie
		{"f16", 0x1p-25, 0},                // tie between zero and the smallest denormal
		{"f16", 0x1.8p-25, 0x1p-24},        // above it
		{"f16", -0x1p-24, -0x1p-24},        // denormal
		{"bf16", 1 + 0x1p-8, 1},            // tie to even
		{"bf16", 3.4e38, inf},              // beyond the tie above the largest
		{"bf16", 0x1p-133, 0x1p-133},       // smallest denormal
		{"f32", 1 + 0x1p-24, 1},            // tie to even
		{"f32", 1e-45, 0x1p-149},           // smallest denormal
		{"f8e4m3fn", 464, 448},             // tie below NaN goes to the even code
		{"f8e4m3fn", 465, nan},             // no infinity
		{"f8e4m3fnuz", 0x1p-10, 0x1p-10},   // smallest denormal
		{"f8e5m2", 61440, inf},             // tie to infinity
		{"f8e5m2", 57345, 57344},           // largest
		{"f4e2m1fn", 2.5, 2},               // the tie goes to the even code
		{"f4e2m1fn", 7.3, 6},               // the largest number; there is nothing else
		{"f4e2m1fn", nan, 6},               // not even NaN
		{"f8e8m0fnu", 2.9, 2},              // powers of two
		{"f8e8m0fnu", 3, 4},                // the tie goes up
		{"f8e8m0fnu", 0, nan},              // there is no zero
		{"f64", 0.1, 0.1}, {"bool", 7, 1}, {"i8", -3, -3}, {"u8", 200, 200}, {"i64", -1 << 40, -1 << 40},
	} {
		got := ndarray.Round(lookup(t, test.dtype), test.in)
		if got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("round %v to %s: got %v, want %v", test.in, test.dtype, got, test.want)
		}
	}
}

// Every code of a narrow format survives a round trip, so encode and decode describe one format.
func TestEveryCode(t *testing.T) {
	for _, short := range []string{"f16", "bf16", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu"} {
		d := lookup(t, short)
		for code := range 1 << d.Bits {
			data := []byte{byte(code), byte(code >> 8)}
			v := ndarray.GetFloat(d, data, 0)
			again := make([]byte, 2)
			ndarray.PutFloat(d, again, 0, v)
			if math.IsNaN(v) {
				if back := ndarray.GetFloat(d, again, 0); !math.IsNaN(back) {
					t.Fatalf("%s: NaN %#x became %v", short, code, back)
				}
				continue
			}
			if !bytes.Equal(data[:d.Bits/8], again[:d.Bits/8]) {
				t.Fatalf("%s: code %#x = %v became %#x", short, code, v, again)
			}
		}
	}
}

// Elements of bytes and of longer integers hold the numbers of a row, the first in the lowest bits.
func TestUnpack(t *testing.T) {
	bytes, err := ndarray.Of(lookup(t, "u8"), []int64{2, 4}, []byte{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe})
	if err != nil {
		t.Fatal(err)
	}
	words := &ndarray.Array{DType: lookup(t, "i32"), Shape: []int64{2, 1}, Strides: []int64{1, 1}, Data: bytes.Data}
	for _, packed := range []*ndarray.Array{bytes, words} {
		for short, want := range map[string][]float64{
			"f4e2m1fn": {0, 0.5, 1, 1.5, 2, 3, 4, 6, math.Copysign(0, -1), -0.5, -1, -1.5, -2, -3, -4, -6},
			"i4":       {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1},
			"u4":       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		} {
			got := ndarray.Unpack(packed, lookup(t, short))
			if !slices.Equal(got.Shape, []int64{2, 8}) || !slices.Equal(got.Floats(), want) {
				t.Errorf("%s of %s: got %v %v, want %v", short, packed.DType.Long, got.Shape, got.Floats(), want)
			}
		}
	}
}

func TestError(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		dtype     string
		got, want float64
		ulps      float64
	}{
		{"f16", 1, 1, 0},
		{"f16", 1 + 0x1p-10, 1, 1},
		{"f16", 1, 1 + 0x1p-11, 0.5},
		{"f32", 1 + 0x1p-23, 1 - 0x1p-25, 2.5}, // the spacing is that of the exact value
		{"f32", 0x1p-149, 0, 1},                // one denormal away from zero
		{"f16", nan, nan, 0}, {"f16", nan, 1, inf}, {"f16", 1, nan, inf},
		{"f16", inf, inf, 0}, {"f16", inf, -inf, inf}, {"f16", 65504, inf, inf},
		{"f16", inf, 65504, 1}, {"f16", inf, 70000, 0}, // an overflow counts as the next number
		{"bf16", 0, math.Copysign(0, -1), 0},
	} {
		distance, spacing := ndarray.Error(lookup(t, test.dtype), test.got, test.want)
		if ulps := distance / spacing; ulps != test.ulps {
			t.Errorf("%s: error of %v for %v: got %v ulp, want %v", test.dtype, test.got, test.want, ulps, test.ulps)
		}
	}
}

func TestLayoutsKeepValues(t *testing.T) {
	d := lookup(t, "f16")
	base := ndarray.Random(ndarray.Rand("layouts"), d, []int64{3, 1, 5}, ndarray.Contents{})
	for _, layout := range ndarray.Layouts {
		view := layout.Apply(base)
		if view.IsDense() {
			t.Errorf("%s: the view is dense", layout.Name)
		}
		if same := slices.Equal(view.Floats(), base.Floats()); same == layout.Repeats {
			t.Errorf("%s: values kept: %v", layout.Name, same)
		}
		if diff := cmp.Diff(view.Floats(), view.Dense().Floats()); diff != "" {
			t.Errorf("%s: dense copy differs (-want +got):\n%s", layout.Name, diff)
		}
		if got := layout.Apply(ndarray.New(d, nil)); got != nil {
			t.Errorf("%s: a scalar got strides %v", layout.Name, got.Strides)
		}
	}
}

func TestExpandedRepeatsASlice(t *testing.T) {
	base := ndarray.FromFloats(lookup(t, "f32"), []int64{2, 3}, []float64{1, 2, 3, 4, 5, 6})
	for _, layout := range ndarray.Layouts {
		if !layout.Repeats {
			continue
		}
		if diff := cmp.Diff([]float64{1, 2, 3, 1, 2, 3}, layout.Apply(base).Floats()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", layout.Name, diff)
		}
	}
}

func TestDenseIgnoresUnitDimensions(t *testing.T) {
	for _, test := range []struct {
		shape, strides []int64
		want           bool
	}{
		{[]int64{2, 3}, []int64{3, 1}, true},
		{[]int64{1, 3}, []int64{99, 1}, true},
		{[]int64{2, 1}, []int64{1, -7}, true},
		{[]int64{2, 3}, []int64{1, 2}, false},
		{[]int64{0, 3}, []int64{5, 5}, true},
		{[]int64{3, 0}, []int64{5, 5}, true},
		{nil, nil, true},
	} {
		a := &ndarray.Array{Shape: test.shape, Strides: test.strides}
		if got := a.IsDense(); got != test.want {
			t.Errorf("shape %v strides %v: dense %v, want %v", test.shape, test.strides, got, test.want)
		}
	}
}

// A range of integers is always tried at both ends.
func TestRandomEnds(t *testing.T) {
	low, high := -1.0, 1000.0
	for _, sorted := range []bool{false, true} {
		for n := range int64(4) {
			c := ndarray.Contents{Min: big.NewRat(-1, 1), Max: big.NewRat(1000, 1), Sorted: sorted}
			values := ndarray.Random(ndarray.Rand("ends"), lookup(t, "i32"), []int64{n}, c).Floats()
			if n > 1 && (values[0] != low || values[n-1] != high) || slices.ContainsFunc(values, func(v float64) bool { return v < low || v > high }) {
				t.Errorf("%d numbers: %v", n, values)
			}
		}
	}
}

func TestRandomIsReproducible(t *testing.T) {
	d, zero, three := lookup(t, "bf16"), big.NewRat(0, 1), big.NewRat(3, 1)
	draw := func(name string) []float64 {
		return ndarray.Random(ndarray.Rand(name), d, []int64{50}, ndarray.Contents{Min: zero, Max: three, Sorted: true}).Floats()
	}
	values := draw("a")
	if !slices.Equal(values, draw("a")) || slices.Equal(values, draw("b")) {
		t.Error("the values depend on something other than the name")
	}
	if !slices.IsSorted(values) || values[0] < 0 || values[49] > 3 {
		t.Errorf("contents not honoured: %v", values)
	}
}

func TestGuarded(t *testing.T) {
	base := ndarray.FromFloats(lookup(t, "u8"), []int64{2}, []float64{1, 2})
	got := ndarray.Guarded(base, 2, 0xa5)
	if diff := cmp.Diff([]byte{0xa5, 0xa5, 1, 2, 0xa5, 0xa5}, got.Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(base.Bytes(), got.Bytes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFill(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 64, 1000} {
		data := make([]byte, n+1)
		ndarray.Fill(data[:n], 0xa5)
		if want := append(bytes.Repeat([]byte{0xa5}, n), 0); !bytes.Equal(data, want) {
			t.Errorf("%d bytes: %x", n, data)
		}
	}
}

func TestWriteSafetensors(t *testing.T) {
	var out bytes.Buffer
	x := ndarray.FromFloats(lookup(t, "f8e4m3fn"), []int64{2}, []float64{1, -1})
	if err := ndarray.WriteSafetensors(&out, []ndarray.Named{{Name: "x", Array: x}}); err != nil {
		t.Fatal(err)
	}
	want := "\x40\x00\x00\x00\x00\x00\x00\x00" + `{"x":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}      ` + "\x38\xb8"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
