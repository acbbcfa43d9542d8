package cases

import (
	"maps"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// solveSizes extends the fixed sizes to all symbols so that the conditions hold and no argument is too large or has a
// negative size. Outputs that come out empty though no input is are avoided where that is possible.
func solveSizes(op *opdef.Op, attrs map[string]any, p Plan) (map[string]int64, error) {
	s := search{
		op: op, attrs: attrs, dtypes: p.DTypes, when: p.When, without: p.Without, free: []string{}, sizes: maps.Clone(p.Sizes), largest: MaxElements,
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
	if s.exceeds() || !s.found() {
		return nil, ErrNoSizes
	}
	return s.sizes, nil
}

// found looks for sizes in the order of the symbols, and, if that takes long, in one in which conflicts show early.
func (s *search) found() bool {
	s.order = s.free
	for _, limit := range []int{quickTries, MaxTries} {
		s.limit = limit
		ended := true
		for _, s.allowEmpty = range []bool{false, true} {
			if s.tries = 0; s.allowEmpty {
				s.onlyZeros()
			}
			if s.next(0) {
				return true
			}
			ended = ended && s.tries <= limit
		}
		if ended {
			return false // all was tried
		}
		groups := s.connected()
		if slices.ContainsFunc(groups, s.hopeless) {
			return false
		}
		s.order = slices.Concat(groups...)
	}
	return false
}

// onlyZeros notes the sizes that a kernel's condition leaves empty only: of each other one, conditions say that it cannot be.
func (s *search) onlyZeros() {
	if s.when == nil || s.zeros != nil {
		return
	}
	s.zeros = []string{}
	one := *s
	for _, name := range s.free {
		one.sizes = maps.Clone(s.sizes)
		possible := false
		for n := int64(1); n <= mostLooked && !possible; n++ {
			one.sizes[name] = n
			possible = one.possible()
		}
		if !possible {
			s.zeros = append(s.zeros, name)
		}
	}
}

// mostLooked is the largest size of which a search asks whether it can be.
const mostLooked = 1 << 12

// quickTries is how many steps a search may take before it is worth while to look at what the conditions connect.
const quickTries = 2000

// connected parts the free symbols into groups that no condition connects, those of conditions first.
func (s *search) connected() [][]string {
	conditions := s.op.Requires
	if s.when != nil {
		conditions = append(slices.Clone(conditions), s.when)
	}
	var groups [][]string
	for _, e := range conditions {
		var group []string
		needs := s.op.Depends(e)
		touches := func(g []string) bool {
			return slices.ContainsFunc(g, func(name string) bool { return slices.Contains(needs, name) })
		}
		for _, g := range groups {
			if touches(g) {
				group = append(group, g...)
			}
		}
		for _, name := range s.free {
			if slices.Contains(needs, name) && !slices.Contains(group, name) {
				group = append(group, name)
			}
		}
		groups = append(slices.DeleteFunc(groups, touches), group)
	}
	var rest []string
	for _, name := range s.free {
		if !slices.ContainsFunc(groups, func(g []string) bool { return slices.Contains(g, name) }) {
			rest = append(rest, name)
		}
	}
	return append(groups, rest)
}

// hopeless says that none of the sizes of a group fulfils the conditions, which speak of no other.
func (s *search) hopeless(group []string) bool {
	alone := *s
	alone.order, alone.sizes, alone.tries, alone.partial = group, maps.Clone(s.sizes), 0, true
	return !alone.next(0) && alone.tries <= alone.limit
}

// search walks the combinations of candidates of the free symbols.
type search struct {
	op     *opdef.Op
	attrs  map[string]any
	dtypes DTypes
	// when is the condition of the kernel that has to take the call; nil for none.
	when *expr.Expr
	// without are the optional inputs that are left out.
	without []string
	// free are the symbols to choose, in the order of the definition; order is that of the search.
	free, order []string
	sizes       map[string]int64
	// tries counts steps, up to the limit.
	tries, limit int
	allowEmpty   bool
	// zeros are the symbols that a kernel's condition leaves 0 only; nil before they are known.
	zeros []string
	// partial asks for sizes of some symbols that no condition excludes.
	partial bool
	// batch are the leading dims, where they count for the size of arguments.
	batch []int64
	// largest is the most elements that an argument may have.
	largest int64
}

func (s *search) next(i int) bool {
	if i == len(s.order) {
		return s.partial || s.fits()
	}
	name := s.order[i]
	list := Candidates(s.op, name, slices.Index(s.free, name))
	if s.when != nil && slices.Contains(s.op.Depends(s.when), name) {
		list = append(list, whenSizes...)
		if slices.Contains(s.zeros, name) {
			list = append(list, 0)
		}
	}
	for _, n := range append(list, s.multiples(name)...) {
		if s.tries++; s.tries > s.limit {
			break
		}
		s.sizes[name] = n
		if s.possible() && !s.exceeds() && s.next(i+1) {
			return true
		}
	}
	delete(s.sizes, name)
	return false
}

// multiples are sizes that a condition such as "N % group == 0" wants of a symbol, for a group whose value is known.
func (s *search) multiples(name string) (out []int64) {
	c := &Case{Op: s.op, DTypes: s.dtypes, Sizes: s.sizes, Attrs: s.attrs}
	for _, e := range s.op.Requires {
		e.Walk(func(n *expr.Expr) {
			if n.Op != expr.OpMod || !slices.Contains(s.op.Depends(n.Args[0]), name) {
				return
			}
			if by, err := n.Args[1].Eval(c); err == nil && by > 1 {
				out = append(out, by, 2*by)
			}
		})
	}
	return out
}

// exceeds reports whether some argument is too large whatever sizes are chosen next.
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
	if !s.findable(c) {
		return false
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
	return largest <= s.largest && (s.allowEmpty || !anyEmpty || s.fixedZero()) && c.hasContents(s.without)
}

// findable reports whether the sizes follow from the shapes: of a dim G*K, an adaptor that knows G finds no K if G is 0, and
// refuses the call.
func (s *search) findable(c *Case) bool {
	return !slices.ContainsFunc(s.op.Steps, func(step opdef.Step) bool {
		absent := slices.Contains(s.without, s.op.Inputs[step.Input].Name)
		if absent || step.Kind != opdef.BindSize || step.When != nil && c.EvalCondition(step.When) == expr.KnownFalse {
			return false
		}
		coef, err := step.Coef.Eval(c)
		return err == nil && coef == 0
	})
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
