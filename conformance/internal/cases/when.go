package cases

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// EvalCondition evaluates the condition of a kernel for a call; one about where arrays lie is unknown.
func (c *Case) EvalCondition(e *expr.Expr) expr.Truth { return e.EvalCondition(c.DTypes, c) }

// AcceptsDTypes reports whether a kernel may take a choice of dtypes, for some sizes and attrs.
func AcceptsDTypes(k *opdef.Kernel, d DTypes) bool {
	return k.Accepts(d, expr.NoValues{}) != expr.KnownFalse
}

// Acceptance is what is known of whether a kernel takes a call. The author's predicate and the architecture are not.
func (c *Case) Acceptance(k *opdef.Kernel) expr.Truth {
	out := k.Accepts(c.DTypes, c)
	if MayDecline(k) {
		out = min(out, expr.Undecided)
	}
	return out
}

// Refuses reports whether the definition says that a kernel does not take a call.
func (c *Case) Refuses(k *opdef.Kernel) bool { return c.Acceptance(k) == expr.KnownFalse }

// whenSizes are tried beside the usual ones where a kernel has a condition on sizes.
var whenSizes = []int64{16, 32, 64, 128, 256}

// ForKernel adapts a plan to a kernel with a condition: sizes are chosen that meet it, else attrs, one at a time, are
// given values with which there are such sizes. Optional indices are left out where that leaves nothing else.
func ForKernel(op *opdef.Op, k *opdef.Kernel, p Plan) (*Case, error) {
	if k != nil && k.When != nil {
		p.When = k.When
	}
	if p.Near {
		p = settled(op, p)
	}
	c, err := Meeting(op, p)
	if left := withoutIndices(op, p); err != nil && p.When != nil && len(left.Without) > len(p.Without) {
		c, err = Meeting(op, left)
	}
	if err == nil && k != nil && !AcceptsDTypes(k, c.DTypes) {
		return nil, fmt.Errorf("%w for the kernel %s: without %s, it does not take the dtypes", ErrNoSizes, k.Name, strings.Join(p.Without, ", "))
	}
	return c, err
}

// withoutIndices is a plan without optional inputs that have a range, in which nothing may be left.
func withoutIndices(op *opdef.Op, p Plan) Plan {
	p.Without = slices.Clone(p.Without)
	for _, in := range op.Inputs {
		if in.Optional && in.Min != nil && in.Max != nil && !slices.Contains(p.Without, in.Name) {
			p.Without = append(p.Without, in.Name)
		}
	}
	return p
}

// Excluded says whether the definition and the condition of a kernel leave no size that both allow for some dtypes.
func Excluded(op *opdef.Op, k *opdef.Kernel, d DTypes) bool {
	s := search{op: op, dtypes: d, when: k.When, attrs: map[string]any{}}
	return slices.ContainsFunc(k.When.Symbols(), func(name string) bool {
		for n := int64(0); n <= mostLooked; n++ {
			s.sizes = map[string]int64{name: n}
			if s.possible() {
				return false
			}
		}
		return slices.Contains(Symbols(op), name)
	})
}

// Meeting makes the call that a plan describes. Where its condition needs them, attrs that the plan leaves open get other
// values, one at a time.
func Meeting(op *opdef.Op, p Plan) (*Case, error) {
	c, err := New(op, p)
	if err == nil || p.When == nil {
		return c, err
	}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if _, given := p.Attrs[a.Name]; given || a.Type == "dtype" || !slices.Contains(p.When.Symbols(), a.Name) {
			continue
		}
		for _, v := range append(AttrValues(op, a), TriedValues(op, a, NumbersAround(p.When, 0))...) {
			other := p
			other.Attrs = withValue(p.Attrs, a.Name, v)
			if c, err := New(op, other); err == nil {
				return c, nil
			}
		}
	}
	return nil, err
}

// NumbersAround are the numbers in a condition above a limit, and those beside them: there it may change.
func NumbersAround(e *expr.Expr, above int64) (numbers []int64) {
	e.Walk(func(n *expr.Expr) {
		if n.Op == expr.OpConst && n.Value > above && n.Value <= 1<<16 {
			numbers = append(numbers, n.Value-1, n.Value, n.Value+1)
		}
	})
	return numbers
}

// TriedValues are values of an attr at which a condition may change: those of its sweep, the given numbers, and for a float
// also negative and large ones.
func TriedValues(op *opdef.Op, a *opdef.Attr, numbers []int64) []any {
	values := RangeValues(op, a)
	if a.Type == "float" {
		for _, v := range []float64{0, -1, 1, -0.5, 0.5, 2, -2, 100, -100, 1e9, -1e9} {
			if within(a, v) {
				values = append(values, v)
			}
		}
	}
	for _, n := range numbers {
		if a.Type == "int" && within(a, float64(n)) {
			values = append(values, n)
		}
	}
	return values
}

// within says whether a number is in the range of an attr.
func within(a *opdef.Attr, n float64) bool {
	low, hasLow := ToFloat(a.Min)
	high, hasHigh := ToFloat(a.Max)
	listed := len(a.Among) == 0 || slices.Contains(a.Among, int64(n))
	return listed && (!hasLow || n >= low) && (!hasHigh || n <= high)
}

// withValue is a copy of attrs, or sizes, in which one has a value.
func withValue[V any](values map[string]V, name string, v V) map[string]V {
	out := maps.Clone(values)
	if out == nil {
		out = map[string]V{}
	}
	out[name] = v
	return out
}

// DependsOnMemory reports whether a condition asks where arrays lie.
func DependsOnMemory(e *expr.Expr) bool {
	return e != nil && (e.Op == expr.OpAligned || slices.ContainsFunc(e.Args, DependsOnMemory))
}
