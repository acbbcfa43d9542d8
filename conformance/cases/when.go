package cases

import (
	"slices"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
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

// whenSizes are tried beside the usual ones where a kernel has a condition on sizes.
var whenSizes = []int64{16, 32, 64, 128, 256}

// ForKernel adapts a plan to a kernel with a condition: sizes are chosen that meet it, else attrs, one at a time, are
// given values with which there are such sizes.
func ForKernel(op *opdef.Op, k *opdef.Kernel, p Plan) (*Case, error) {
	if k == nil || k.When == nil {
		return New(op, p)
	}
	p.When = k.When
	c, err := New(op, p)
	if err == nil {
		return c, nil
	}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if _, given := p.Attrs[a.Name]; given || !slices.Contains(k.When.Symbols(), a.Name) {
			continue
		}
		for _, v := range AttrValues(op, a) {
			other := p
			other.Attrs = withValue(p.Attrs, a.Name, v)
			if c, err := New(op, other); err == nil {
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

// DependsOnMemory reports whether a condition asks where arrays lie.
func DependsOnMemory(e *expr.Expr) bool {
	return e != nil && (e.Op == expr.OpAligned || slices.ContainsFunc(e.Args, DependsOnMemory))
}
