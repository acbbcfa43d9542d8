package cases

import (
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// AttrSizePlans make each symbol and the leading dims long with each value of the attrs that choose, and without each optional
// input.
func AttrSizePlans(op *opdef.Op, d DTypes) []Plan {
	var plans []Plan
	for _, other := range append(ChoicePlans(op, d), OptionalPlans(op, d)...) {
		if len(other.Attrs)+len(other.Without) == 0 {
			continue
		}
		other.Name = "long"
		for _, s := range Symbols(op) {
			p := other
			p.Batch, p.Sizes, p.Near = []int64{2}, map[string]int64{s: LongSize}, true
			plans = append(plans, p)
		}
		if op.HasBatch() {
			other.Batch = []int64{LongSize}
			plans = append(plans, other)
		}
	}
	return plans
}

// Chooses reports whether an attr stands for one of several ways to compute, and is neither a factor nor a list of sizes.
func Chooses(a *opdef.Attr) bool { return a.Binds == "" && a.Type != "float" && a.Len == 0 }

// ChoicePlans give each attr that chooses each of its values in turn.
func ChoicePlans(op *opdef.Op, d DTypes) []Plan {
	return slices.DeleteFunc(AttrPlans(op, d), func(p Plan) bool {
		return !slices.ContainsFunc(op.Attrs, func(a opdef.Attr) bool { return p.Attrs[a.Name] != nil && Chooses(&a) })
	})
}

// SpecialPlans are the other calls that get a few special numbers: with each value of the attrs that choose, with all optional
// inputs and without any.
func SpecialPlans(c *Case) (plans []Plan) {
	var optional []string
	for _, in := range c.Op.Inputs {
		if in.Optional && givesWithout(c.Op, in.Name) {
			optional = append(optional, in.Name)
		}
	}
	for _, p := range append(ChoicePlans(c.Op, c.DTypes), BasePlan(c.DTypes)) {
		if len(p.Attrs) > 0 {
			plans = append(plans, p)
		}
		if p.Without = optional; len(optional) > 0 {
			plans = append(plans, p)
		}
	}
	return plans
}

// dtypesWithout are the dtypes of a plan; a variable whose input is left out stands for its first one.
func dtypesWithout(op *opdef.Op, p Plan) DTypes {
	d := p.DTypes
	if len(p.Without) == 0 {
		return d
	}
	for _, v := range op.DTypes {
		if slices.Contains(p.Without, op.OptionalDType(v.Name)) {
			d = maps.Clone(d)
			d[v.Name] = v.OneOf[0]
		}
	}
	return d
}
