package conformance

import (
	"math"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
)

// DType is a dtype attr's value, by long name.
type DType string

// combinations lists the choices of dtype variables that some kernel of the device covers.
func combinations(op *opdef.Op, device string) []dtypes {
	return slices.DeleteFunc(declared(op), func(d dtypes) bool { return len(kernelsFor(op, device, d)) == 0 })
}

// declared lists all choices of dtype variables, the last one turning fastest.
func declared(op *opdef.Op) []dtypes {
	all := []dtypes{{}}
	for _, v := range op.DTypes {
		var next []dtypes
		for _, have := range all {
			for _, short := range v.OneOf {
				more := dtypes{v.Name: short}
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

// covering are the fewest of the combinations, found greedily, that show every dtype of every variable and every kernel.
func covering(op *opdef.Op, device string) []dtypes {
	all, seen := combinations(op, device), map[string]bool{}
	var out []dtypes
	for {
		best, most := dtypes(nil), 0
		for _, d := range all {
			if n := len(shown(op, device, d, seen)); n > most {
				best, most = d, n
			}
		}
		if best == nil {
			break
		}
		for _, what := range shown(op, device, best, seen) {
			seen[what] = true
		}
		out = append(out, best)
	}
	if len(out) == 0 {
		return all // no variables: the one choice there is
	}
	return out
}

// shown are the dtypes and kernels of a choice that have not been seen.
func shown(op *opdef.Op, device string, d dtypes, seen map[string]bool) []string {
	what := kernelsFor(op, device, d)
	for name, short := range d {
		what = append(what, name+"="+short)
	}
	return slices.DeleteFunc(what, func(s string) bool { return seen[s] })
}

// covered lets a check run with fewer choices of dtypes: one that is about something else than dtypes.
func covered(run func(*T) error) func(*T) error {
	return func(t *T) error {
		t.covering = true
		return run(t)
	}
}

// ofKernels is covered for a check of what only kernels can get wrong: adaptors, some of which compile for every size, show
// it for one choice.
func ofKernels(run func(*T) error) func(*T) error {
	return func(t *T) error {
		t.aboutKernels = true
		return covered(run)(t)
	}
}

// kernelsFor names the kernels of the device that cover a choice of dtypes.
func kernelsFor(op *opdef.Op, device string, d dtypes) []string {
	var names []string
	for _, k := range kernelsOn(op, device) {
		if takes(&k, d) {
			names = append(names, k.Name)
		}
	}
	return names
}

// attrValues are the values that an attr takes in a sweep; the first is a safe one.
func attrValues(op *opdef.Op, a *opdef.Attr) []any {
	if preferred := op.Samples[a.Name]; preferred != nil && a.Type != "dtype" {
		return preferred
	}
	return rangeValues(op, a)
}

// rangeValues are values from all over the declared range.
func rangeValues(op *opdef.Op, a *opdef.Attr) []any {
	switch {
	case len(a.OneOf) > 0:
		return anys(a.OneOf)
	case a.Type == "bool":
		return []any{false, true}
	case a.Type == "dtype":
		return dtypeValues(op, a)
	case a.Type == "int":
		return intValues(a)
	case a.Type == "float":
		return floatValues(a)
	case a.Len > 0:
		var out []any
		for _, v := range intValues(a) {
			out = append(out, slices.Repeat([]int64{v.(int64)}, a.Len))
		}
		return out
	}
	return []any{""}
}

func anys[T any](items []T) []any {
	out := make([]any, len(items))
	for i, v := range items {
		out[i] = v
	}
	return out
}

// dtypeValues are the dtypes of the variable that the attr binds; float32 stands for an attr that binds none.
func dtypeValues(op *opdef.Op, a *opdef.Attr) []any {
	if a.Binds == "" {
		return []any{DType("float32")}
	}
	var out []any
	for _, v := range op.DTypes {
		if v.Name == a.Binds {
			for _, short := range v.OneOf {
				out = append(out, DType(long(short)))
			}
		}
	}
	return out
}

func intValues(a *opdef.Attr) []any {
	low, hasLow := a.Min.(int64)
	high, hasHigh := a.Max.(int64)
	switch {
	case hasLow && hasHigh:
		return slices.Compact([]any{low, min(low+1, high), high})
	case hasLow:
		return []any{low, low + 1}
	case hasHigh:
		return []any{high, high - 1}
	}
	return []any{int64(1), int64(0), int64(2)}
}

func floatValues(a *opdef.Attr) []any {
	low, hasLow := number(a.Min)
	high, hasHigh := number(a.Max)
	switch {
	case hasLow && hasHigh:
		return []any{low, (low + high) / 2, high}
	case hasLow:
		return []any{low, low + 0.5}
	case hasHigh:
		return []any{high, high - 0.5}
	}
	return []any{1.0, 0.0, -0.75}
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return math.NaN(), false
}

// baseBatch is what the leading dims are where a check does not care.
var baseBatch = []int64{2, 3}

// base is the plan from which the checks depart.
func base(d dtypes) plan { return plan{name: "base", dtypes: d, batch: baseBatch} }

// valuePlans are the calls whose values every kernel and dtype is judged by: small and odd, one past a tile, long rows.
func valuePlans(op *opdef.Op, d dtypes) []plan {
	plans := []plan{base(d)}
	for _, size := range []int64{13, 129} {
		p := plan{name: "even", dtypes: d, batch: []int64{3}, sizes: map[string]int64{}}
		for _, s := range symbols(op) {
			p.sizes[s] = size
		}
		plans = append(plans, p)
	}
	for _, a := range op.Inputs {
		if a.Optional {
			p := base(d)
			p.without = []string{a.Name}
			plans = append(plans, p)
		}
	}
	return plans
}

// sizePlans gives each symbol each of its sizes in turn, then the leading dims.
func sizePlans(op *opdef.Op, d dtypes) []plan {
	var plans []plan
	for _, s := range symbols(op) {
		for _, n := range sweepSizes(op, s) {
			plans = append(plans, plan{name: "sizes", dtypes: d, batch: []int64{2}, sizes: map[string]int64{s: n}})
		}
	}
	if op.HasBatch() {
		for _, n := range standardSizes {
			plans = append(plans, plan{name: "sizes", dtypes: d, batch: []int64{n}})
		}
	}
	return plans
}

// rankPlans vary the number of leading dims.
func rankPlans(op *opdef.Op, d dtypes) []plan {
	if !op.HasBatch() {
		return nil
	}
	var plans []plan
	for _, batch := range [][]int64{{}, {4}, {2, 3}, {2, 1, 3}, {1, 2, 1, 2}} {
		plans = append(plans, plan{name: "rank", dtypes: d, batch: batch})
	}
	return plans
}

// zeroPlans make each symbol and each leading dim zero in turn.
func zeroPlans(op *opdef.Op, d dtypes) []plan {
	var plans []plan
	for _, s := range symbols(op) {
		plans = append(plans, plan{name: "zero", dtypes: d, batch: []int64{2}, sizes: map[string]int64{s: 0}})
	}
	if op.HasBatch() {
		for _, batch := range [][]int64{{0}, {2, 0}, {0, 3}} {
			plans = append(plans, plan{name: "zero", dtypes: d, batch: batch})
		}
	}
	return plans
}

// attrPlans give each attr each of its values in turn, explicitly.
func attrPlans(op *opdef.Op, d dtypes) []plan {
	var plans []plan
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if a.Binds != "" {
			continue // the dtype combinations sweep these
		}
		for _, v := range attrValues(op, a) {
			p := base(d)
			p.attrs = map[string]any{a.Name: v}
			plans = append(plans, p)
		}
	}
	return plans
}

// cases turns plans into calls, whose contents the sampler makes. A plan that the definition's conditions exclude is left out.
func cases(op *opdef.Op, plans []plan, s sampler) []*Case {
	var out []*Case
	for _, p := range plans {
		p.sampler = s
		if c, err := newCase(op, p); err == nil {
			out = append(out, c)
		}
	}
	return out
}
