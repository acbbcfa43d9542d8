package cases

import (
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Limits of what a sample may cost.
const (
	MaxElements = 1 << 19
	MaxTries    = 20000
)

// standardSizes are the sizes that find off-by-one, tail and tile errors: one, primes, one past a tile, several tiles.
var standardSizes = []int64{1, 2, 7, 64, 129, 1031}

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

// solveSizes extends the fixed sizes to all symbols so that the conditions hold and no argument is too large or has a
// negative size. Outputs that come out empty though no input is are avoided where that is possible.
func solveSizes(op *opdef.Op, attrs map[string]any, p Plan) (map[string]int64, error) {
	s := search{
		op: op, attrs: attrs, dtypes: p.DTypes, when: p.When, free: []string{}, sizes: maps.Clone(p.Sizes), largest: MaxElements,
	}
	switch {
	case p.Unbounded:
		s.largest = math.MaxInt64
	case p.Largest > 0:
		s.largest, s.batch = p.Largest, p.Batch
	}
	if s.sizes == nil {
		s.sizes = map[string]int64{}
	}
	for _, name := range Symbols(op) {
		if _, ok := s.sizes[name]; !ok {
			s.free = append(s.free, name)
		}
	}
	if s.exceeds() {
		return nil, ErrNoSizes
	}
	for _, s.allowEmpty = range []bool{false, true} {
		s.tries = 0
		if s.next(0) {
			return s.sizes, nil
		}
	}
	return nil, ErrNoSizes
}

// search walks the combinations of candidates of the free symbols.
type search struct {
	op     *opdef.Op
	attrs  map[string]any
	dtypes DTypes
	// when is the condition of the kernel that has to take the call; nil for none.
	when       *expr.Expr
	free       []string
	sizes      map[string]int64
	tries      int
	allowEmpty bool
	// batch are the leading dims, where they count for the size of arguments.
	batch []int64
	// largest is the most elements that an argument may have.
	largest int64
}

func (s *search) next(i int) bool {
	if i == len(s.free) {
		s.tries++
		return s.fits()
	}
	list := Candidates(s.op, s.free[i], i)
	if s.when != nil && slices.Contains(s.op.Needs(s.when), s.free[i]) {
		list = append(list, whenSizes...)
	}
	for _, n := range list {
		if s.tries > MaxTries {
			break
		}
		s.sizes[s.free[i]] = n
		if s.possible() && s.next(i+1) {
			return true
		}
	}
	delete(s.sizes, s.free[i])
	return false
}

// exceeds reports whether some argument is too large whatever the free sizes are. Without it, the search would try all of them in vain.
func (s *search) exceeds() bool {
	c := &Case{Op: s.op, DTypes: s.dtypes, Batch: s.batch, Sizes: s.sizes, Attrs: s.attrs}
	tooLarge := func(a *opdef.Arg) bool {
		var known []int64
		for _, d := range a.Type.Dims {
			if d.Leading() {
				known = append(known, c.Lead(a)...)
			} else if n, err := d.Expr.Eval(c); err == nil {
				known = append(known, n)
			}
		}
		return Elements(nonZero(known)) > s.largest
	}
	for _, args := range [][]opdef.Arg{s.op.Inputs, s.op.Outputs} {
		for i := range args {
			if tooLarge(&args[i]) {
				return true
			}
		}
	}
	return false
}

// possible reports whether no condition is broken as far as sizes are chosen: else the search would walk through all that
// the rest can be.
func (s *search) possible() bool {
	c := &Case{Op: s.op, DTypes: s.dtypes, Sizes: s.sizes, Attrs: s.attrs}
	for _, e := range s.op.Requires {
		if c.EvalCondition(e) == expr.KnownFalse {
			return false
		}
	}
	return s.when == nil || c.EvalCondition(s.when) != expr.KnownFalse
}

func (s *search) fits() bool {
	c := &Case{Op: s.op, DTypes: s.dtypes, Batch: s.batch, Sizes: s.sizes, Attrs: s.attrs}
	if s.when != nil && c.EvalCondition(s.when) == expr.KnownFalse {
		return false
	}
	for _, e := range s.op.Requires {
		if v, err := e.Eval(c); err != nil || v == 0 {
			return false
		}
	}
	largest, anyEmpty := int64(1), false
	for _, args := range [][]opdef.Arg{s.op.Inputs, s.op.Outputs} {
		for i := range args {
			shape, err := c.ShapeOf(&args[i])
			if err != nil {
				return false
			}
			largest, anyEmpty = max(largest, Elements(nonZero(shape))), anyEmpty || slices.Contains(shape, 0)
		}
	}
	return largest <= s.largest && (s.allowEmpty || !anyEmpty || s.fixedZero()) && c.hasContents()
}

// hasContents says whether the inputs' ranges have numbers in them: an index into nothing has none.
func (c *Case) hasContents() bool {
	return !slices.ContainsFunc(c.Op.Inputs, func(in opdef.Arg) bool {
		if in.Min == nil || in.Max == nil {
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

// fixedZero reports whether the caller asked for an empty dimension.
func (s *search) fixedZero() bool {
	for name, n := range s.sizes {
		if n == 0 && !slices.Contains(s.free, name) {
			return true
		}
	}
	return false
}
