package conformance

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
)

// The short names of this package for what is known of a condition.
const (
	no      = expr.KnownFalse
	unknown = expr.Undecided
	yes     = expr.KnownTrue
)

// holds evaluates the condition of a kernel for a call; one about where arrays lie is unknown.
func (c *Case) holds(e *expr.Expr) expr.Truth { return e.EvalCondition(c.DTypes, c) }

// takes reports whether a kernel may take a choice of dtypes, for some sizes and attrs.
func takes(k *opdef.Kernel, d dtypes) bool { return k.Accepts(d, expr.NoValues{}) != no }

// taken is what is known of whether a kernel takes a call. The author's predicate and the architecture are not.
func (c *Case) taken(k *opdef.Kernel) expr.Truth {
	out := k.Accepts(c.DTypes, c)
	if picky(k) {
		out = min(out, unknown)
	}
	return out
}

// whenSizes are tried beside the usual ones where a kernel has a condition on sizes.
var whenSizes = []int64{16, 32, 64, 128, 256}

// forKernel adapts a plan to a kernel with a condition: sizes are chosen that meet it, else attrs, one at a time, are
// given values with which there are such sizes.
func forKernel(op *opdef.Op, k *opdef.Kernel, p plan) (*Case, error) {
	if k == nil || k.When == nil {
		return newCase(op, p)
	}
	p.when = k.When
	c, err := newCase(op, p)
	if err == nil {
		return c, nil
	}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if _, given := p.attrs[a.Name]; given || !slices.Contains(k.When.Symbols(), a.Name) {
			continue
		}
		for _, v := range attrValues(op, a) {
			other := p
			other.attrs = withValue(p.attrs, a.Name, v)
			if c, err := newCase(op, other); err == nil {
				return c, nil
			}
		}
	}
	return nil, err
}

// withValue is a copy of attrs in which one has a value.
func withValue(attrs map[string]any, name string, v any) map[string]any {
	out := map[string]any{name: v}
	for k, have := range attrs {
		if k != name {
			out[k] = have
		}
	}
	return out
}

// sampler makes the contents of the op's inputs; nil where that is left to chance.
func (t *T) sampler() sampler { return t.env.samplers[t.Op.Name] }

// sampledCase is the call of a plan, with the contents that the author makes.
func (t *T) sampledCase(p plan) (*Case, error) {
	p.sampler = t.sampler()
	return newCase(t.Op, p)
}

// newCase is the call of a plan that the kernel of the present row takes.
func (t *T) newCase(p plan) (*Case, error) {
	if t.env.seed != 0 {
		p.name = fmt.Sprintf("%s, seed %d", p.name, t.env.seed)
	}
	p.sampler = t.sampler()
	return forKernel(t.Op, t.variant(), p)
}

// cases turns plans into calls. A plan that the definition's conditions, or the kernel of the present row, exclude is left
// out.
func (t *T) cases(plans []plan) []*Case {
	var out []*Case
	for _, p := range plans {
		if c, err := t.newCase(p); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// placed reports whether a condition asks where arrays lie.
func placed(e *expr.Expr) bool {
	return e != nil && (e.Op == expr.OpAligned || slices.ContainsFunc(e.Args, placed))
}
