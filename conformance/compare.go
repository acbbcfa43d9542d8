package conformance

import (
	"fmt"
	"math"

	"github.com/opcast/opcast/internal/ndarray"
)

// compare judges an output against the reference. It returns "" or what is wrong, with the worst element.
func compare(name string, got *ndarray.Array, want Expected, bound Bound) string {
	return compareEither(name, got, want, nil, bound)
}

// compareEither also accepts, element by element, a second answer: that of a float32 evaluation where it overflowed.
func compareEither(name string, got *ndarray.Array, want Expected, or []float64, bound Bound) string {
	if text := unlike(name, got, want); text != "" {
		return text
	}
	found := inspect(got, want, or, bound)
	return found.text(name, got, bound)
}

// unlike says that a result has not the reference's shape, or "".
func unlike(name string, got *ndarray.Array, want Expected) string {
	if list(got.Shape) == list(want.Shape) {
		return ""
	}
	return fmt.Sprintf("%s: got shape %s, the reference has %s", name, list(got.Shape), list(want.Shape))
}

// inspection is what came of all elements of a result: the worst one, how many are beyond the bound, and how many have
// which error.
type inspection struct {
	worst finding
	bad   int
	bins  [errorBins]int64
}

// text is "" or what is wrong, with the worst element.
func (in *inspection) text(name string, got *ndarray.Array, bound Bound) string {
	if in.bad == 0 {
		return ""
	}
	worst := in.worst
	return fmt.Sprintf("%s%s: got %v, want %v (%.3g ulp, allowed %s); %d of %d elements differ",
		name, list(got.Index(worst.at)), worst.got, worst.want, worst.distance/worst.spacing, bound, in.bad, got.Len())
}

// inspect judges every element.
func inspect(got *ndarray.Array, want Expected, or []float64, bound Bound) inspection {
	found := inspection{worst: finding{excess: -1}}
	for i, g := range got.Floats() {
		f := judge(got, g, want.Values[i], bound)
		if f.excess > 0 && or != nil && overflowed(or[i]) {
			f.excess = min(f.excess, judge(got, g, or[i], bound).excess)
		}
		if f.excess > 0 {
			found.bad++
		}
		found.bins[errorBin(f.distance/f.spacing)]++
		if f.excess > found.worst.excess || f.excess == found.worst.excess && f.share > found.worst.share {
			f.at = int64(i)
			found.worst = f
		}
	}
	return found
}

// String says what is allowed: "1 ulp + 0.0001".
func (b Bound) String() string {
	s := fmt.Sprintf("%g ulp", b.ULPs)
	if b.Abs > 0 {
		s += fmt.Sprintf(" + %.2g", b.Abs)
	}
	if b.Rel > 0 {
		s += fmt.Sprintf(" + %.2g relative", b.Rel)
	}
	return s
}

func overflowed(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v == 0 }

// finding is the judgement of one element. Share is the distance in units of what is allowed, excess the same beyond 1,
// else 0.
type finding struct {
	at                               int64
	got, want                        float64
	distance, spacing, share, excess float64
}

func judge(a *ndarray.Array, got, want float64, bound Bound) finding {
	f := finding{got: got, want: want}
	if !ndarray.IsFloat(a.DType) {
		f.spacing = 1
		if got != want {
			f.distance, f.share, f.excess = math.Abs(got-want), math.Inf(1), math.Inf(1)
		}
		return f
	}
	f.distance, f.spacing = ndarray.Error(a.DType, got, want)
	allowed := bound.ULPs*f.spacing + bound.Abs
	if !math.IsInf(want, 0) && !math.IsNaN(want) {
		allowed += bound.Rel * math.Abs(want)
	}
	f.share = f.distance / max(allowed, math.SmallestNonzeroFloat64)
	if f.distance > allowed {
		f.excess = f.share
	}
	return f
}

// sameBits compares elements as bytes; it returns "" or the first difference.
func sameBits(name string, got, want *ndarray.Array) string {
	if list(got.Shape) != list(want.Shape) || got.DType.Long != want.DType.Long {
		return fmt.Sprintf("%s: got %s%s, want %s%s", name, got.DType.Long, list(got.Shape), want.DType.Long, list(want.Shape))
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
	return fmt.Sprintf("%s%s: got %v, want the same bits as %v; %d of %d elements differ", name, list(got.Index(at)),
		ndarray.GetFloat(got.DType, a, at), ndarray.GetFloat(want.DType, b, at), differ, got.Len())
}
