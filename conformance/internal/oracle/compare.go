package oracle

import (
	"fmt"
	"math"
	"strconv"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
)

// Compare judges an output against the reference. It returns "" or what is wrong, with the worst element.
func Compare(name string, got *ndarray.Array, want Expected, bound Tolerance) string {
	return compareWithAlternative(name, got, want, nil, bound)
}

// compareWithAlternative also accepts, element by element, a second answer: that of a float32 evaluation where it overflowed.
func compareWithAlternative(name string, got *ndarray.Array, want Expected, or []float64, bound Tolerance) string {
	got = want.Numbers(got)
	if text := ShapeDifference(name, got, want); text != "" {
		return text
	}
	found := Inspect(got, want, or, bound)
	return found.Text(name, got, bound)
}

// ShapeDifference says that a result has not the reference's shape, or "".
func ShapeDifference(name string, got *ndarray.Array, want Expected) string {
	if rule.List(got.Shape) == rule.List(want.Shape) {
		return ""
	}
	return fmt.Sprintf("%s: got shape %s, the reference has %s", name, rule.List(got.Shape), rule.List(want.Shape))
}

// inspection is what came of all elements of a result: the worst one, how many are beyond the bound (Bad), and how many have
// which error.
type inspection struct {
	Worst elementError
	Bad   int64
	// whole are the parts of the worst element, as it was got and wanted, if elements are complex.
	whole *[2]complex128
	bins  [errorBins]int64
}

// Text is "" or what is wrong, with the worst element.
func (in *inspection) Text(name string, got *ndarray.Array, bound Tolerance) string {
	if in.Bad == 0 {
		return ""
	}
	worst := in.Worst
	return fmt.Sprintf("%s%s: got %s, want %s (%.3g ulp, allowed %s); %d of %d elements differ",
		name, rule.List(in.Index(got)), in.GotText(got), in.WantText(got), worst.Distance/worst.Spacing, bound, in.Bad, in.Len(got))
}

// Inspect judges every element.
func Inspect(got *ndarray.Array, want Expected, or []float64, bound Tolerance) inspection {
	found := inspection{Worst: elementError{Excess: -1}}
	bad := false
	for i, g := range elements(got) {
		if want.Open != nil && want.Open[i] {
			bad = false
			continue
		}
		here := want.BoundAt(i, got.DType, bound)
		f := judge(got.DType, g, want.number(i), here)
		if want.Complex {
			f.Spacing = max(f.Spacing, ndarray.Spacing(got.DType, want.Values[i^1]))
		}
		if f.Excess > 0 && or != nil && isOverflow(or[i]) {
			f.Excess = min(f.Excess, judge(got.DType, g, number{value: or[i]}, here).Excess)
		}
		if f.Excess > 0 && (!want.Complex || i%2 == 0 || !bad) { // once for both parts
			found.Bad++
		}
		bad = f.Excess > 0
		found.bins[ErrorBin(f.Distance/f.Spacing)]++
		if f.Excess > found.Worst.Excess || f.Excess == found.Worst.Excess && f.Share > found.Worst.Share {
			f.At = int64(i)
			found.Worst = f
		}
	}
	if want.Complex && found.Worst.Excess >= 0 {
		at := found.Worst.At &^ 1
		values := got.Floats()
		found.whole = &[2]complex128{complex(values[at], values[at+1]), complex(want.Values[at], want.Values[at+1])}
	}
	return found
}

// String says what is allowed: "1 ulp + 0.0001".
func (b Tolerance) String() string {
	s := fmt.Sprintf("%g ulp", b.ULPs)
	if b.Abs > 0 {
		s += fmt.Sprintf(" + %.2g", b.Abs)
	}
	if b.Rel > 0 {
		s += fmt.Sprintf(" + %.2g relative", b.Rel)
	}
	return s
}

func isOverflow(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v == 0 }

// elementError is the judgement of one element. Share is the distance in units of what is allowed, excess the same beyond 1,
// else 0.
type elementError struct {
	At                               int64
	Got, Want                        number
	Distance, Spacing, Share, Excess float64
}

// judge judges one element. Where the reference's value is no number of the dtype, as infinity is none of integers, the result
// of a conversion is undefined, and nothing is wrong.
func judge(d dtype.DType, got, want number, bound Tolerance) elementError {
	if d.Short == "bool" && want.value != 0 { // as in NumPy, where every number but zero is true
		want = number{value: 1}
	}
	f := elementError{Got: got, Want: want, Spacing: 1}
	if !want.representable(d) && acceptsUnrepresentable(d, got.value, want.value) {
		return f
	}
	if !ndarray.IsFloat(d) {
		return judgeInteger(got, want, bound)
	}
	if math.IsInf(got.value, 0) || math.IsNaN(got.value) { // one spacing from the largest number, which may be what was wanted
		bound.ULPs = min(bound.ULPs, rounded)
	}
	f.Distance, f.Spacing = ndarray.Error(d, got.value, want.value)
	if d.Bits < 8 {
		return f.nearest(d, bound.besideULPs(want.value))
	}
	return f.within(bound.ULPs*f.Spacing + bound.besideULPs(want.value))
}

// within judges the distance by what is allowed.
func (f elementError) within(allowed float64) elementError {
	f.Share = f.Distance / max(allowed, math.SmallestNonzeroFloat64)
	if f.Distance > allowed {
		f.Excess = f.Share
	}
	return f
}

// nearest judges a number of few bits, which is to be the nearest one to what is no further than a margin from the exact value.
func (f elementError) nearest(d dtype.DType, margin float64) elementError {
	low, high := ndarray.Round(d, f.Want.value-margin), ndarray.Round(d, f.Want.value+margin)
	if f.Got.value >= low && f.Got.value <= high {
		f.Share = min(f.Distance/f.Spacing, 1)
		return f
	}
	return f.within(0)
}

// besideULPs is what a tolerance allows an element to be off, apart from units of its last place.
func (b Tolerance) besideULPs(want float64) float64 {
	if math.IsInf(want, 0) || math.IsNaN(want) {
		return b.Abs
	}
	return b.Abs + b.Rel*math.Abs(want)
}

// acceptsUnrepresentable says whether a result may stand for a number that the dtype does not have. A signed format without
// infinities has NaN or its largest number for one; for others, anything goes.
func acceptsUnrepresentable(d dtype.DType, got, want float64) bool {
	if !ndarray.IsFloat(d) || ndarray.IsUnsigned(d) {
		return true
	}
	return math.IsNaN(got) || math.IsNaN(want) || got == math.Copysign(ndarray.Max(d), want)
}

// SameBits compares elements as bytes; it returns "" or the first difference.
func SameBits(name string, got, want *ndarray.Array) string {
	if rule.List(got.Shape) != rule.List(want.Shape) || got.DType.Long != want.DType.Long {
		return fmt.Sprintf("%s: got %s%s, want %s%s", name, got.DType.Long, rule.List(got.Shape), want.DType.Long, rule.List(want.Shape))
	}
	a, b := got.Bytes(), want.Bytes()
	size := int(ndarray.ItemSize(got.DType))
	differ, first := 0, -1
	for i := 0; i < len(a); i += size {
		if string(a[i:i+size]) != string(b[i:i+size]) {
			differ++
			if first < 0 {
				first = i / size
			}
		}
	}
	if differ == 0 {
		return ""
	}
	at := int64(first)
	return fmt.Sprintf("%s%s: got %s, want the same bits as %s; %d of %d elements differ", name, rule.List(got.Index(at)),
		ndarray.Text(got.DType, a, at), ndarray.Text(want.DType, b, at), differ, got.Len())
}

// FormatFloat writes a number with as many digits as tell it from its neighbours.
func FormatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
