package cases

import (
	"errors"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Limits of what a sample may cost.
const (
	MaxElements = 1 << 19
	MaxTries    = 20000
)

// standardSizes are the sizes that find off-by-one, tail and tile errors: one, primes, one past a tile, several tiles.
var standardSizes = []int64{1, 2, 7, 64, 129, LongSize}

// LongSize is that of dims with which other things are combined, too.
const LongSize = 1031

// baseSizes are small and distinct, so that exchanged dimensions show.
var baseSizes = []int64{5, 3, 7, 4, 6, 8, 2, 9, 10, 12, 1, 16}

// ErrNoSizes means that no sizes were found that fulfil a definition's conditions.
var ErrNoSizes = errors.New("no sizes satisfy the definition")

// Symbols are the sizes that the inputs bind, in the order in which they first appear.
func Symbols(op *opdef.Op) []string {
	known := map[string]bool{}
	for _, a := range op.Attrs {
		known[a.Name] = true
	}
	for _, l := range op.Lets {
		known[l.Name] = true
	}
	var out []string
	for i := range op.Inputs {
		for _, d := range op.Inputs[i].Type.Dims {
			if d.Expr == nil {
				continue
			}
			for _, s := range op.Needs(d.Expr) {
				if !known[s] {
					known[s] = true
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// Candidates are the sizes to try for a symbol: what the definition prefers, or the base sizes starting at the i-th, and then
// those of which its conditions speak.
func Candidates(op *opdef.Op, symbol string, i int) []int64 {
	if preferred := SampleSizes(op, symbol); preferred != nil {
		return preferred
	}
	i %= len(baseSizes)
	return slices.Concat(baseSizes[i:], baseSizes[:i], spokenSizes(op, symbol))
}

// SampleSizes are the sizes that the definition asks the suite to use for a symbol.
func SampleSizes(op *opdef.Op, symbol string) []int64 {
	var out []int64
	for _, v := range op.Samples[symbol] {
		if n, ok := v.(int64); ok {
			out = append(out, n)
		}
	}
	return out
}

// sweepSizes are the sizes that a symbol takes in turn.
func sweepSizes(op *opdef.Op, symbol string) []int64 {
	if preferred := SampleSizes(op, symbol); preferred != nil {
		return preferred
	}
	return standardSizes
}

// hasContents says whether the ranges of inputs have numbers in them: an index into nothing has none. Those of some are not asked for.
func (c *Case) hasContents(without []string) bool {
	return !slices.ContainsFunc(c.Op.Inputs, func(in opdef.Arg) bool {
		if in.Min == nil || in.Max == nil || slices.Contains(without, in.Name) {
			return false
		}
		limits, err := LimitsOf(&in, c)
		shape, err2 := c.ShapeOf(&in)
		return errors.Join(err, err2) == nil && limits.Min.Cmp(limits.Max) > 0 && Elements(shape) > 0
	})
}

// nonZero is a shape with ones in the place of zeros. The other sizes of an empty array are bounded, too: what
// compilers make of them is not empty.
func nonZero(shape []int64) []int64 {
	out := slices.Clone(shape)
	for i, n := range out {
		out[i] = max(n, 1)
	}
	return out
}

// Elements is the number of elements of an array, or the largest number if that is less.
func Elements(shape []int64) int64 {
	if slices.Contains(shape, 0) {
		return 0
	}
	n := int64(1)
	for _, size := range shape {
		if n > math.MaxInt64/size {
			return math.MaxInt64
		}
		n *= size
	}
	return n
}
