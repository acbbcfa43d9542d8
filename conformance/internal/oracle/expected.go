package oracle

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Expected is the reference's answer for one slot; Absent where it is None.
type Expected struct {
	Shape  []int64
	Values []float64
	// Integers are the values where they are integers of which float64 lacks some; else nil.
	Integers []*big.Int
	Absent   bool
	// Open are the elements of which nothing is demanded; nil for none.
	Open []bool
	// Packs is the dtype of the numbers if an element of the result holds several: values and shape are those of the numbers.
	Packs string
	// Complex says that the numbers are parts of complex ones, which a last dimension of two counts.
	Complex bool
	// Blur is by how much the reference itself may be off: NumPy fuses products of complex128 on some CPUs and not on others, which shows
	// where a sum of them cancels.
	Blur float64
}

// standFor says of which kind the numbers of a slot are.
func (e *Expected) standFor(s cases.Slot, d dtype.DType) {
	e.Packs, e.Complex = s.Packs, d.Complex()
	if d.Complex() && d.Part().Bits == 64 {
		e.Blur = 8 * d.Part().ULP * magnitude(e.Values)
	}
}

// packed are the dtypes of the numbers of which each element of a result holds several, by slot; "" for others.
func packed(c *cases.Case) []string {
	packs := []string{}
	for _, s := range cases.Slots(c.Op) {
		packs = append(packs, s.Packs)
	}
	return packs
}

// complexResults tells the slots that hold complex numbers.
func complexResults(c *cases.Case) []bool {
	out := []bool{}
	for _, s := range cases.Slots(c.Op) {
		out = append(out, c.DType(s.Type).Complex())
	}
	return out
}

// Numbers are what is compared with the answer: the elements of a result, or the numbers that these hold or consist of.
func (e Expected) Numbers(got *ndarray.Array) *ndarray.Array {
	got = got.Parts()
	if e.Packs == "" || got.DType.Short == e.Packs {
		return got
	}
	return ndarray.Unpack(got, dtype.Must(e.Packs))
}

// ExpectedOf are the elements of an array, as an answer.
func ExpectedOf(a *ndarray.Array) Expected {
	e := Expected{Shape: a.Parts().Shape, Values: a.Floats(), Complex: a.DType.Complex()}
	if ndarray.IsWide(a.DType) {
		e.Integers = a.Ints()
	}
	return e
}

// Rounded is the answer as an array of an element type, of which each may hold several numbers.
func (e Expected) Rounded(d dtype.DType) *ndarray.Array {
	if e.Packs != "" && d.Short != e.Packs {
		return ndarray.Pack(ndarray.FromFloats(dtype.Must(e.Packs), e.Shape, e.Values), d)
	}
	if e.Integers != nil && ndarray.IsInteger(d) {
		return ndarray.FromInts(d, e.Shape, e.Integers)
	}
	if d.Complex() {
		return ndarray.FromFloats(d, e.Shape[:len(e.Shape)-1], e.Values)
	}
	return ndarray.FromFloats(d, e.Shape, e.Values)
}

// Representable reports whether an element type has a number for element i of the answer, after rounding.
func (e Expected) Representable(d dtype.DType, i int) bool { return e.number(i).representable(d) }

func (e Expected) number(i int) number {
	if e.Integers != nil {
		return number{e.Values[i], e.Integers[i]}
	}
	return number{value: e.Values[i]}
}

// beyond says which element of an answer is not in the range of the positions that the op writes; rows that mean nothing may hold
// anything.
func beyond(c *cases.Case, arg *opdef.Arg, e Expected) string {
	limits, err := cases.LimitsOf(arg, c)
	if err != nil || arg.Mutated || arg.Valid != "" || limits.Min == nil && limits.Max == nil || !opdef.HoldsPositions(c.DType(arg.Type).Short) {
		return ""
	}
	for i := range e.Values {
		whole := e.number(i).integer()
		if whole == nil {
			continue
		}
		v := new(big.Rat).SetInt(whole)
		if limits.Min != nil && v.Cmp(limits.Min) < 0 {
			return fmt.Sprintf("expected at least %s, it returns %s", arg.Min.BoundText(limits.Min), whole)
		}
		if limits.Max != nil && v.Cmp(limits.Max) > 0 {
			return fmt.Sprintf("expected at most %s, it returns %s", arg.Max.BoundText(limits.Max), whole)
		}
	}
	return ""
}

// Repeated is the answer for more rows along an axis, which are those of this answer again and again.
func (e Expected) Repeated(axis int, n int64) Expected {
	out := Expected{Shape: slices.Clone(e.Shape), Absent: e.Absent, Packs: e.Packs, Complex: e.Complex, Blur: e.Blur, Values: ndarray.RepeatElements(e.Values, e.Shape, axis, n)}
	if e.Integers != nil {
		out.Integers = ndarray.RepeatElements(e.Integers, e.Shape, axis, n)
	}
	out.Shape[axis] = n
	return out
}

// BoundAt is what a tolerance allows an element: each part of a complex number may be off as its other part may.
func (e Expected) BoundAt(i int, d dtype.DType, b Tolerance) Tolerance {
	if !e.Complex {
		return b
	}
	b.Abs += e.Blur
	if other := e.Values[i^1]; math.Abs(other) > math.Abs(e.Values[i]) && !math.IsInf(other, 0) {
		b.Abs += b.Rel*math.Abs(other) + b.ULPs*ndarray.Spacing(d, other)
		b.ULPs, b.Rel = 0, 0
	}
	return b
}

// zero sets the elements from one on to zero.
func (e *Expected) zero(from int) {
	clear(e.Values[from:])
	for i := from; i < len(e.Integers); i++ {
		e.Integers[i] = new(big.Int)
	}
}

// number is an element; exact is its value where it is an integer that float64 may lack.
type number struct {
	value float64
	exact *big.Int
}

// elements are those of a result.
func elements(a *ndarray.Array) []number {
	out := make([]number, 0, a.Len())
	wide := ndarray.IsWide(a.DType)
	a.Positions(func(at int64) {
		n := number{value: ndarray.GetFloat(a.DType, a.Data, at)}
		if wide {
			n.exact = ndarray.GetInt(a.DType, a.Data, at)
		}
		out = append(out, n)
	})
	return out
}

// text is the number as messages print it.
func (n number) text(d dtype.DType) string {
	if n.exact != nil {
		return n.exact.String()
	}
	return ndarray.FloatText(d, n.value)
}

// representable is about rounded numbers: those beyond the largest one of a type without infinities have none.
func (n number) representable(d dtype.DType) bool {
	if !ndarray.IsInteger(d) {
		if ndarray.IsFloat(d) && !ndarray.IsUnsigned(d) && math.Abs(n.value) <= ndarray.Max(d) {
			return true // without rounding
		}
		return d.Short == "bool" || ndarray.HasNaN(d) && (math.IsNaN(n.value) || !math.IsNaN(ndarray.Round(d, n.value)))
	}
	whole := n.integer()
	low, high := ndarray.IntRange(d)
	return whole != nil && whole.Cmp(low) >= 0 && whole.Cmp(high) <= 0
}

// integer is the number without what follows its point; nil for NaN and infinities.
func (n number) integer() *big.Int {
	switch {
	case n.exact != nil:
		return n.exact
	case math.IsNaN(n.value) || math.IsInf(n.value, 0):
		return nil
	}
	whole, _ := big.NewFloat(n.value).Int(nil)
	return whole
}

// judgeInteger compares with an integer: exactly, unless the definition has a tolerance. What a reference computes in float64 beyond
// 2^53 is not exact, and neither is the comparison with it.
func judgeInteger(got, want number, bound Tolerance) elementError {
	f := elementError{Got: got, Want: want, Spacing: 1}
	if got.integer() == nil || want.integer() == nil { // NaN or an infinity, which is no integer
		f.Distance, f.Share, f.Excess = math.Inf(1), math.Inf(1), math.Inf(1)
		return f
	}
	off := new(big.Int).Sub(got.integer(), want.integer())
	if off.Sign() == 0 && (want.exact != nil || want.value == math.Trunc(want.value)) {
		return f
	}
	f.Distance, _ = new(big.Float).SetInt(off.Abs(off)).Float64()
	if want.exact == nil && math.Abs(want.value) <= ndarray.FloatExact {
		whole, _ := new(big.Float).SetInt(got.integer()).Float64()
		f.Distance = math.Abs(whole - want.value)
	}
	if want.exact == nil && math.Abs(want.value) > ndarray.FloatExact && f.Distance <= independentOfRounding*math.Abs(want.value) {
		f.Distance = 0
		return f
	}
	return f.within(bound.besideULPs(want.value))
}

// independentOfRounding is the error of a reference that computes large integers in float64, relative to them.
const independentOfRounding = 1e-9

// WrongNumber is an element of an array that is beyond what a tolerance allows, for tests of the comparison.
type WrongNumber struct {
	Kind, Text string
	Array      *ndarray.Array
}

// NextInteger is the rounded answer with another integer as element at, the next one that a comparison must refuse; false if the
// tolerance allows all that the dtype has.
func (e Expected) NextInteger(d dtype.DType, at int64, bound Tolerance) (WrongNumber, bool) {
	bad, v := e.Rounded(d), e.number(int(at)).integer()
	allowed := bound.besideULPs(e.Values[at])
	if math.IsInf(allowed, 0) {
		return WrongNumber{}, false
	}
	step, _ := big.NewFloat(allowed).Int(nil)
	step.Add(step, big.NewInt(1))
	if e.Integers == nil && math.Abs(e.Values[at]) > ndarray.FloatExact {
		unsure, _ := big.NewFloat(4 * independentOfRounding * math.Abs(e.Values[at])).Int(nil)
		step.Add(step, unsure)
	}
	kind, next := "above", new(big.Int).Add(v, step)
	low, high := ndarray.IntRange(d)
	if next.Cmp(high) > 0 {
		kind, next = "below", new(big.Int).Sub(v, step)
	}
	if next.Cmp(low) < 0 {
		return WrongNumber{}, false
	}
	ndarray.PutInt(d, bad.Data, at, next)
	return WrongNumber{kind, fmt.Sprintf("%v for %v", next, v), bad}, true
}
