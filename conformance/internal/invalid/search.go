package invalid

import (
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// findBroken searches for a call that the test accepts: with the dtypes of the case, else, for a condition that mentions
// dtypes, with some that a condition excludes. An attr that chooses a dtype stays as it is.
func findBroken(c *cases.Case, program *rule.Program, r rule.Rule, test func(*cases.Case) bool) *cases.Case {
	numbers := numbersAround(c.Op, r.Expr)
	find := func(c *cases.Case) *cases.Case {
		mentioned := c.Op.Depends(r.Expr)
		if bad := findSizes(c, mentioned, numbers, test); bad != nil {
			return bad
		}
		if all := bound(c.Op, program, mentioned); len(all) > len(mentioned) {
			return findSizes(c, all, numbers, test)
		}
		return nil
	}
	if bad := find(c); bad != nil || r.Hint == "" {
		return bad
	}
	for _, d := range cases.ExcludedDTypes(c.Op) {
		sameAttrs := !slices.ContainsFunc(c.Op.Attrs, func(a opdef.Attr) bool { return a.Binds != "" && d[a.Binds] != c.DTypes[a.Binds] })
		if !sameAttrs {
			continue
		}
		other := *c
		other.DTypes = d
		if bad := find(&other); bad != nil {
			return bad
		}
	}
	return nil
}

// bound are names, and those that conditions and sizes connect with them: others may have to follow when the names change.
func bound(op *opdef.Op, program *rule.Program, names []string) []string {
	out := slices.Clone(names)
	for before := -1; before < len(out); {
		before = len(out)
		for _, r := range program.Rules {
			if r.Kind != rule.Require && r.Kind != rule.OutSize {
				continue
			}
			needs := op.Depends(r.Expr)
			if !slices.ContainsFunc(needs, func(name string) bool { return slices.Contains(out, name) }) {
				continue
			}
			for _, name := range needs {
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// numbersAround are small numbers, those at which a condition may change, and the next ones to them that other conditions want:
// "N <= 4096" is broken by 4098 where N is even.
func numbersAround(op *opdef.Op, e *expr.Expr) []int64 {
	numbers := append([]int64{1, 2, 3, 4, 0}, cases.NumbersAround(e, 4)...)
	for _, other := range op.Requires {
		other.Walk(func(n *expr.Expr) {
			if n.Op != expr.OpMod || n.Args[1].Op != expr.OpConst || n.Args[1].Value < 2 {
				return
			}
			for _, around := range cases.NumbersAround(e, 4) {
				multiple := around / n.Args[1].Value * n.Args[1].Value
				for _, m := range []int64{multiple, multiple + n.Args[1].Value} {
					if !slices.Contains(numbers, m) {
						numbers = append(numbers, m)
					}
				}
			}
		})
	}
	return numbers
}

// findSizes searches for a call that the test accepts. It differs from the case in sizes and attrs with some names: sizes are the
// numbers, attrs have also the values of their sweep.
func findSizes(c *cases.Case, names []string, numbers []int64, test func(*cases.Case) bool) *cases.Case {
	f := &sizeSearch{
		numbers: numbers, test: test, asked: names,
		try: &cases.Case{Op: c.Op, DTypes: c.DTypes, Batch: c.Batch, Leads: c.Leads, Sizes: maps.Clone(c.Sizes), Attrs: maps.Clone(c.Attrs)},
	}
	for _, name := range cases.Symbols(c.Op) {
		if slices.Contains(names, name) {
			f.names = append(f.names, name)
		}
	}
	f.share = 1
	for i := range c.Op.Attrs {
		f.share *= 1 + len(f.values(i))
	}
	f.share = max(allTries/f.share, leastTries)
	if f.attrs(0) {
		return f.try
	}
	return nil
}

// A search takes about allTries, in equal shares for all choices of attrs, which are no less than leastTries.
const (
	allTries   = 5 * cases.MaxTries
	leastTries = 200
)

// sizeSearch is the state of a search.
type sizeSearch struct {
	// names are the sizes that change, asked those and the attrs.
	names, asked []string
	numbers      []int64
	test         func(*cases.Case) bool
	try          *cases.Case
	// tries are those of one choice of attrs, share how many it may have.
	tries, share int
}

// attrs tries values of the attrs from the i-th on that can appear in conditions; their defaults come first.
func (f *sizeSearch) attrs(i int) bool {
	if i == len(f.try.Op.Attrs) {
		f.tries = 0 // every choice of attrs gets its share: a condition may need the last one
		return f.sizes(0)
	}
	if f.attrs(i + 1) {
		return true
	}
	a := &f.try.Op.Attrs[i]
	before, given := f.try.Attrs[a.Name]
	for _, v := range f.values(i) {
		f.try.Attrs[a.Name] = v
		if f.attrs(i + 1) {
			return true
		}
	}
	delete(f.try.Attrs, a.Name)
	if given {
		f.try.Attrs[a.Name] = before
	}
	return false
}

// values are the others that the i-th attr may have; none where it does not matter.
func (f *sizeSearch) values(i int) []any {
	a := &f.try.Op.Attrs[i]
	if a.Type == "dtype" || a.Optional || !slices.Contains(f.asked, a.Name) {
		return nil
	}
	return cases.TriedValues(f.try.Op, a, f.numbers[5:]) // the conditions' own
}

func (f *sizeSearch) sizes(i int) bool {
	if f.tries++; f.tries > f.share {
		return false
	}
	if i == len(f.names) {
		return f.test(f.try) && zeroInputs(f.try) == nil
	}
	for _, n := range f.numbers {
		f.try.Sizes[f.names[i]] = n
		if f.sizes(i + 1) {
			return true
		}
	}
	return false
}

// zeroInputs makes the inputs of a case arrays of zeros; an optional one that cannot be is absent.
func zeroInputs(c *cases.Case) error {
	c.Inputs = nil
	for i := range c.Op.Inputs {
		in := &c.Op.Inputs[i]
		shape, err := c.ShapeOf(in)
		switch {
		case err == nil:
			c.Inputs = append(c.Inputs, ndarray.New(c.DType(in.Type), shape))
		case in.Optional:
			c.Inputs = append(c.Inputs, nil)
		default:
			return err
		}
	}
	return nil
}
