package cases

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// filler makes the elements of an array from those that it has; the rng is its own.
type filler func(rng *rand.Rand, have *ndarray.Array) []float64

// hardSize is the extent of all dims in hard cases, where arrays of such an extent are not too large: some vectors and a rest.
const hardSize = 37

// hardLength is that of one dim in sums which floats lose: so many that even 64 partial sums lose more than 4 ulp.
const hardLength = 1031

// HardPlans are the calls that get floats that are hard to multiply and to subtract: one for each value of attrs that choose a
// formula.
func HardPlans(op *opdef.Op, d DTypes) []Plan {
	sizes := map[string]int64{}
	for _, s := range Symbols(op) {
		sizes[s] = hardSize
	}
	large := settled(op, Plan{Name: "hard", DTypes: d, Batch: []int64{2}, Sizes: sizes})
	if _, err := New(op, large); err != nil {
		large = BasePlan(d)
	}
	plans := []Plan{large}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		for k, v := range a.OneOf {
			p := large
			p.Attrs = map[string]any{a.Name: v}
			if k > 0 || a.HasDefault && a.Default != v {
				plans = append(plans, p)
			}
		}
	}
	return plans
}

// HardSumPlans make each symbol in turn long along which arrays lie in memory, for sums of some rows. Where no result has 32 bits,
// an ulp of it hides what sums lose.
func HardSumPlans(op *opdef.Op, d DTypes, rows int64) []Plan {
	wide := func(s Slot) bool {
		t := (&Case{Op: op, DTypes: d}).DType(s.Type)
		return ndarray.IsFloat(t) && t.Bits == 32
	}
	if !slices.ContainsFunc(Slots(op), wide) {
		return nil
	}
	var plans []Plan
	for i := range op.Inputs {
		dims := op.Inputs[i].Type.Dims
		if len(dims) < 2 || dims[len(dims)-1].Expr == nil {
			continue
		}
		for _, s := range op.Needs(dims[len(dims)-1].Expr) {
			p := Plan{Name: "hard sum", DTypes: d, Batch: []int64{rows}, Sizes: map[string]int64{s: hardLength}}
			if first := dims[0].Expr; first != nil && slices.Contains(Symbols(op), first.Text) {
				p.Sizes[first.Text] = rows
			}
			p = settled(op, p)
			same := func(have Plan) bool { return maps.Equal(have.Sizes, p.Sizes) }
			if slices.Contains(Symbols(op), s) && !slices.ContainsFunc(plans, same) {
				plans = append(plans, p)
			}
		}
	}
	return plans
}

// FreeFloats are the inputs that hold floats of 16 or 32 bits of which neither the definition nor the author's samples say more.
func (c *Case) FreeFloats() []int {
	_, rows := c.SpecialFloats()
	return slices.DeleteFunc(rows, func(i int) bool { return !slices.Contains([]int{16, 32}, c.Inputs[i].DType.Bits) })
}

// Hard are copies of a case with floats that are hard to multiply and to subtract: products leave the range of float32 on the
// way to an ordinary result, and differences are small.
func (c *Case) Hard() []*Case {
	free := c.FreeFloats()
	var out []*Case
	for _, i := range free {
		if len(free) > 1 {
			out = append(out,
				c.filled(free, i, large, tiny, "large beside tiny"),
				c.filled(free, i, tiny, large, "tiny beside large"),
				c.filled(free, i, steep, large, "at the ends of exp, beside large"),
				c.filled(free, i, level, even, "almost constant, beside averages"))
		}
		out = append(out,
			c.filled(free, i, steep, nil, "at the ends of exp"),
			c.filled(free, i, halves(steep, large), nil, "half at the ends of exp, half large"),
			c.filled(free, i, halves(tiny, large), nil, "half tiny, half large"),
			c.filled(free, i, opposite, nil, "neighbours that cancel"),
			c.filled(free, i, level, nil, "almost constant"))
	}
	for k, i := range free {
		for _, j := range free[k+1:] {
			a, b := c.Inputs[i], c.Inputs[j]
			if a.DType == b.DType && slices.Equal(a.Shape, b.Shape) {
				mirror := func(*rand.Rand, *ndarray.Array) []float64 { return negated(a) }
				out = append(out, c.filled([]int{j}, j, mirror, nil, "cancels "+c.Op.Inputs[i].Name))
			}
		}
	}
	return out
}

// HardSums are copies of a case with one number beside many that a float loses when they are added to it one by one: themselves,
// their squares, or their exponentials.
func (c *Case) HardSums() []*Case {
	free := c.FreeFloats()
	var out []*Case
	for _, i := range free {
		if c.Inputs[i].Rank() > 1 && rowLength(c.Inputs[i]) >= hardLength {
			out = append(out,
				c.filled(free, i, peak(1, func(v float64) float64 { return v }), ones, "one beside many"),
				c.filled(free, i, peak(1, math.Sqrt), ones, "one beside many squares"),
				c.filled(free, i, peak(0, math.Log), ones, "one beside many exponentials"))
		}
	}
	return out
}

// Elements is how many numbers the inputs have.
func (c *Case) Elements() (n int64) {
	for _, in := range c.Inputs {
		if in != nil {
			n += in.Len()
		}
	}
	return n
}

// filled is a copy of a case in which one input holds something else, and so do the other free ones if there is a filler.
func (c *Case) filled(free []int, at int, f, others filler, note string) *Case {
	out := c.With(at, c.Inputs[at], fmt.Sprintf("%s %s", c.Op.Inputs[at].Name, note))
	for _, i := range free {
		use := others
		if i == at {
			use = f
		}
		if use != nil {
			have := c.Inputs[i]
			rng := ndarray.Rand("hard/" + out.Name + "/" + c.Op.Inputs[i].Name)
			out.Inputs[i] = ndarray.FromFloats(have.DType, have.Shape, use(rng, have))
		}
	}
	return out
}

// exponents of the largest numbers of a dtype, with room for random ones, and of denormal ones: their product is ordinary.
func exponents(d dtype.DType) (up, down int) {
	top := math.Ilogb(ndarray.Max(d))
	return top - 4, -top - 2
}

func large(_ *rand.Rand, have *ndarray.Array) []float64 {
	up, _ := exponents(have.DType)
	return times(have, up)
}

func tiny(_ *rand.Rand, have *ndarray.Array) []float64 {
	_, down := exponents(have.DType)
	return times(have, down)
}

func times(have *ndarray.Array, exponent int) []float64 {
	values := have.Floats()
	for i, v := range values {
		values[i] = math.Ldexp(v, exponent)
	}
	return values
}

func ones(_ *rand.Rand, have *ndarray.Array) []float64 {
	return slices.Repeat([]float64{1}, int(have.Len()))
}

// even weighs each element of a row alike, so that a sum of products is an average.
func even(_ *rand.Rand, have *ndarray.Array) []float64 {
	return slices.Repeat([]float64{1 / float64(rowLength(have))}, int(have.Len()))
}

// ends are where exp(x), exp(x*x/2) and the like leave float32, below and above, and where they are ordinary.
var ends = []float64{-104, -88, -13.5, -10, -0.5, 0.5, 10, 13.5, 88}

func steep(rng *rand.Rand, have *ndarray.Array) []float64 {
	values := make([]float64, have.Len())
	for i := range values {
		values[i] = ends[rng.IntN(len(ends))] * (1 + (rng.Float64()-0.5)/32)
	}
	return values
}

// level is one number, but for a few last digits.
func level(rng *rand.Rand, have *ndarray.Array) []float64 {
	const value = 1.375
	values, step := make([]float64, have.Len()), ndarray.Spacing(have.DType, value)
	for i := range values {
		values[i] = value + float64(rng.IntN(8))*step
	}
	return values
}

// opposite makes neighbours equal, but for their signs and the last digit.
func opposite(_ *rand.Rand, have *ndarray.Array) []float64 {
	values, other := have.Floats(), negated(have)
	for i := 1; i < len(values); i += 2 {
		values[i] = other[i-1]
	}
	return values
}

// negated are the elements of an array with other signs and, for every other one, another last digit.
func negated(a *ndarray.Array) []float64 {
	values := a.Floats()
	for i, v := range values {
		values[i] = -(v + float64(i/2%2)*ndarray.Spacing(a.DType, v))
	}
	return values
}

// lost is what a float that is 1 loses when it is added.
const lost = 0.49 / (1 << 23)

// peak has one large number, or two, at the beginning of each row. The others are up to low, whatever of them is added up.
func peak(high float64, low func(share float64) float64) filler {
	return func(rng *rand.Rand, have *ndarray.Array) []float64 {
		values, n := make([]float64, have.Len()), rowLength(have)
		for i := range values {
			values[i] = low(lost * (0.6 + 0.4*rng.Float64()))
			if row := i / n; i%n == row%4*row%n || row%2 == 1 && i%n == 1 {
				values[i] = high
			}
		}
		return values
	}
}

// halves fills the two halves of each row differently.
func halves(first, second filler) filler {
	return func(rng *rand.Rand, have *ndarray.Array) []float64 {
		values, rest, n := first(rng, have), second(rng, have), rowLength(have)
		for i := range values {
			if i%n >= n/2 {
				values[i] = rest[i]
			}
		}
		return values
	}
}

func rowLength(a *ndarray.Array) int {
	if a.Rank() == 0 {
		return 1
	}
	return int(a.Shape[a.Rank()-1])
}
