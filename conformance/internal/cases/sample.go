package cases

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// DType is a dtype attr's value, by long name.
type DType string

// SupportedDTypes lists the choices of dtype variables that some kernel of the device covers.
func SupportedDTypes(op *opdef.Op, device string) []DTypes {
	return slices.DeleteFunc(DeclaredDTypes(op), func(d DTypes) bool { return len(KernelsFor(op, device, d)) == 0 })
}

// DeclaredDTypes lists the choices of dtype variables that no condition excludes, the last variable turning fastest.
func DeclaredDTypes(op *opdef.Op) []DTypes {
	return slices.DeleteFunc(allDTypes(op), func(d DTypes) bool { return op.Excludes(d) })
}

// ExcludedDTypes lists the choices of dtype variables that a condition excludes.
func ExcludedDTypes(op *opdef.Op) []DTypes {
	return slices.DeleteFunc(allDTypes(op), func(d DTypes) bool { return !op.Excludes(d) })
}

func allDTypes(op *opdef.Op) []DTypes {
	all := []DTypes{{}}
	for _, v := range op.DTypes {
		var next []DTypes
		for _, have := range all {
			for _, short := range v.OneOf {
				more := DTypes{v.Name: short}
				for k, d := range have {
					more[k] = d
				}
				next = append(next, more)
			}
		}
		all = next
	}
	return all
}

// CoveringDTypes are the fewest of the combinations, found greedily, that show every dtype of every variable and every
// kernel.
func CoveringDTypes(op *opdef.Op, device string) []DTypes {
	return covering(op, device, func(d DTypes) []string {
		what := KernelsFor(op, device, d)
		for name, short := range d {
			what = append(what, name+"="+short)
		}
		return what
	})
}

// CoveringKernels are the fewest that show every kernel.
func CoveringKernels(op *opdef.Op, device string) []DTypes {
	return covering(op, device, func(d DTypes) []string { return KernelsFor(op, device, d) })
}

// covering are choices that show together all that single ones do.
func covering(op *opdef.Op, device string, shows func(d DTypes) []string) []DTypes {
	all, seen := SupportedDTypes(op, device), map[string]bool{}
	var out []DTypes
	for {
		best, most := DTypes(nil), 0
		for _, d := range all {
			if n := len(slices.DeleteFunc(shows(d), func(what string) bool { return seen[what] })); n > most {
				best, most = d, n
			}
		}
		if best == nil {
			break
		}
		for _, what := range shows(best) {
			seen[what] = true
		}
		out = append(out, best)
	}
	if len(out) == 0 {
		return all // no variables: the one choice there is
	}
	return out
}

// KernelsFor names the kernels of the device that cover a choice of dtypes.
func KernelsFor(op *opdef.Op, device string, d DTypes) []string {
	var names []string
	for _, k := range KernelsOn(op, device) {
		if AcceptsDTypes(&k, d) {
			names = append(names, k.Name)
		}
	}
	return names
}

// BaseBatch is what the leading dims are where a check does not care.
var BaseBatch = []int64{2, 3}

// BasePlan is the plan from which the checks depart.
func BasePlan(d DTypes) Plan { return Plan{Name: "base", DTypes: d, Batch: BaseBatch} }

// ValuePlans are the calls whose values every kernel and dtype is judged by: small and odd, one past a tile, long rows. Where
// an author's predicate decides, also sizes that most predicates like.
func ValuePlans(op *opdef.Op, d DTypes) []Plan {
	plans := []Plan{BasePlan(d)}
	sizes := []int64{13, 129}
	if slices.ContainsFunc(op.Kernels, func(k opdef.Kernel) bool { return k.Supported }) {
		sizes = append(sizes, 64, 8, 12) // of many dims, the smaller ones are not too large, and 3 divides the last
	}
	for _, size := range sizes {
		p := Plan{Name: "even", DTypes: d, Batch: []int64{3}, Sizes: map[string]int64{}}
		for _, s := range Symbols(op) {
			p.Sizes[s] = size
		}
		plans = append(plans, settled(op, p))
	}
	for _, a := range op.Inputs {
		if a.Optional {
			p := BasePlan(d)
			p.Without = []string{a.Name}
			plans = append(plans, p)
		}
	}
	return plans
}

// BaseOnly is the one plan of checks in which sizes, attributes and contents do not matter.
func BaseOnly(d DTypes) []Plan { return []Plan{BasePlan(d)} }

// SizePlans gives each symbol each of its sizes in turn, or the nearest ones that conditions allow, the sizes at which conditions
// change, and those of a kernel, if one is given; then the leading dims, and attrs that are sizes of results.
func SizePlans(op *opdef.Op, k *opdef.Kernel, d DTypes) []Plan {
	var plans []Plan
	for _, s := range Symbols(op) {
		for _, n := range slices.Concat(sweepSizes(op, s), boundSizes(op, s), paramSizes(k)) {
			plans = append(plans, Plan{Name: "sizes", DTypes: d, Batch: []int64{2}, Sizes: map[string]int64{s: n}})
		}
	}
	if op.HasBatch() {
		for _, n := range standardSizes {
			plans = append(plans, Plan{Name: "sizes", DTypes: d, Batch: []int64{n}})
		}
	}
	return append(settledPlans(op, withoutSwitched(op, plans)), sizeAttrPlans(op, d)...)
}

// paramSizes are the values of a kernel's parameters, which often are the sizes of tiles, and one more; none without a kernel.
func paramSizes(k *opdef.Kernel) (sizes []int64) {
	if k == nil {
		return nil
	}
	for _, p := range k.Params {
		for _, v := range p.Values {
			if v > 2 && v <= LongSize {
				sizes = append(sizes, v, v+1)
			}
		}
	}
	return sizes
}

// RankPlans vary the number of leading dims.
func RankPlans(op *opdef.Op, d DTypes) []Plan {
	if !op.HasBatch() {
		return nil
	}
	var plans []Plan
	for _, batch := range [][]int64{{}, {4}, {2, 3}, {2, 1, 3}, {1, 2, 1, 2}} {
		plans = append(plans, Plan{Name: "rank", DTypes: d, Batch: batch})
	}
	return append(plans, LeadPlans(op, d, []int64{4}, []int64{2, 3}, []int64{2, 3, 2, 3})...)
}

// AttrPlans give each attr each of its values in turn, explicitly.
func AttrPlans(op *opdef.Op, d DTypes) []Plan {
	var plans []Plan
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if a.Binds != "" {
			continue // the dtype combinations sweep these
		}
		for _, v := range AttrValues(op, a) {
			p := BasePlan(d)
			p.Attrs = map[string]any{a.Name: v}
			plans = append(plans, p)
		}
	}
	return plans
}

// All turns plans into calls, whose contents the sampler makes. A plan that the definition's conditions exclude is left out.
func All(op *opdef.Op, plans []Plan, s Sampler) []*Case {
	var out []*Case
	for _, p := range plans {
		p.Sampler = s
		if c, err := New(op, p); err == nil {
			out = append(out, c)
		}
	}
	return out
}
