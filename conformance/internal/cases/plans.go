package cases

import (
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// DenormalPlan has inputs below the smallest normal number of every dtype of the op.
func DenormalPlan(op *opdef.Op, d DTypes) Plan {
	p := BasePlan(d)
	p.Name, p.Scale = "denormal", 1
	for _, f := range Floats(op, d) {
		p.Scale = min(p.Scale, 40*ndarray.Tiny(f))
	}
	return p
}

// Floats are the floating-point dtypes of an op's arguments.
func Floats(op *opdef.Op, d DTypes) []dtype.DType {
	c := &Case{Op: op, DTypes: d}
	var out []dtype.DType
	for _, a := range slices.Concat(op.Inputs, op.Outputs) {
		if f := c.DType(a.Type).Part(); ndarray.IsFloat(f) {
			out = append(out, f)
		}
	}
	return out
}

// OptionalPlans are a plan with all optional inputs and one without each. What a framework would make of a call that gives
// nothing back without that input, such as a program without results, is left open.
func OptionalPlans(op *opdef.Op, d DTypes) []Plan {
	plans := []Plan{BasePlan(d)}
	for _, in := range op.Inputs {
		if in.Optional && givesWithout(op, in.Name) {
			p := BasePlan(d)
			p.Without = []string{in.Name}
			plans = append(plans, p)
		}
	}
	if op.Broadcasts() { // another input has all dims
		p := BasePlan(d)
		p.Shift = 1
		plans = append(plans, p)
	}
	return plans
}

// ZeroPlans make each symbol and each leading dim zero in turn.
func ZeroPlans(op *opdef.Op, d DTypes) []Plan {
	var plans []Plan
	for _, s := range Symbols(op) {
		plans = append(plans, Plan{Name: "zero", DTypes: d, Batch: []int64{2}, Sizes: map[string]int64{s: 0}})
	}
	if op.HasBatch() {
		for _, batch := range [][]int64{{0}, {2, 0}, {0, 3}} {
			plans = append(plans, Plan{Name: "zero", DTypes: d, Batch: batch})
		}
	}
	for _, p := range LeadPlans(op, d, []int64{0}, []int64{0, 3}) {
		if slices.Contains(joined(p.Leads), 0) { // else no input has the dim that is empty
			plans = append(plans, p)
		}
	}
	return withoutSwitched(op, plans)
}

// switchedOn gives the attrs that switch results on the value true, as far as sizes fit that.
func switchedOn(op *opdef.Op, p Plan) Plan {
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if _, given := p.Attrs[a.Name]; given || !op.Switches(a) || op.Samples[a.Name] != nil {
			continue
		}
		on := p
		on.Attrs = map[string]any{a.Name: true}
		maps.Copy(on.Attrs, p.Attrs)
		if hasSizes(op, on) {
			p = on
		}
	}
	return p
}

// withoutSwitched adds the same plans without the results that attrs switch on.
func withoutSwitched(op *opdef.Op, plans []Plan) []Plan {
	off := map[string]any{}
	for i := range op.Attrs {
		if a := &op.Attrs[i]; op.Switches(a) && op.Samples[a.Name] == nil {
			off[a.Name] = false
		}
	}
	if len(off) == 0 {
		return plans
	}
	for _, p := range plans {
		given := p.Attrs
		p.Attrs = maps.Clone(off)
		maps.Copy(p.Attrs, given)
		plans = append(plans, p)
	}
	return plans
}

// givesWithout reports whether a call without an input still gives something back.
func givesWithout(op *opdef.Op, input string) bool {
	given := func(name string) bool { return name != input }
	return slices.ContainsFunc(Slots(op), func(s Slot) bool { return !s.Saved && op.Exists(s.Arg, given, nil) })
}

// RankZeroPlans is a plan without leading dims, for an op that has such.
func RankZeroPlans(op *opdef.Op, d DTypes) []Plan {
	if !op.HasBatch() {
		return nil
	}
	p := BasePlan(d)
	p.Batch = []int64{}
	return []Plan{p}
}

// LaidOut is an input of the case in a layout; nil where it has no such layout. Contents that an author made are not repeated:
// they may have to differ, such as places that are written. Nor are rows that ascend from one to the next.
func (c *Case) LaidOut(i int, layout ndarray.Layout) *ndarray.Array {
	in := &c.Op.Inputs[i]
	if layout.Repeats && (c.Sampled[in.Name] || in.Sorted && len(in.Type.Dims) > 1) {
		return nil
	}
	return layout.Apply(c.Inputs[i])
}

// LaidOutCases are a case and, where that is possible, it with inputs of other layouts, one layout at a time; inputs that
// are overwritten keep theirs.
func LaidOutCases(c *Case, layouts ...string) []*Case {
	out := []*Case{c}
	for _, layout := range ndarray.Layouts {
		if !slices.Contains(layouts, layout.Name) {
			continue
		}
		view := *c
		view.Inputs, view.Name = slices.Clone(c.Inputs), c.Name+", "+layout.Name
		for i, in := range c.Inputs {
			if in == nil || c.Op.Inputs[i].Mutated {
				continue
			}
			if a := c.LaidOut(i, layout); a != nil {
				view.Inputs[i] = a
			}
		}
		out = append(out, &view)
	}
	return out
}

// tupleValues are lists of the declared length: of equal numbers first, then those in which one number, the furthest from the
// bounds, comes before or behind the others.
func tupleValues(a *opdef.Attr) []any {
	values := intValues(a)
	repeated := func(v any) []int64 { return slices.Repeat([]int64{v.(int64)}, a.Len) }
	var out []any
	for _, v := range values {
		out = append(out, repeated(v))
	}
	last := len(values) - 1
	for _, v := range values[:last] {
		for _, place := range []int{0, a.Len - 1} {
			mixed := repeated(v)
			mixed[place] = values[last].(int64)
			if a.Len > 1 {
				out = append(out, mixed)
			}
		}
	}
	return out
}

// sizeAttrs are the integer attrs that sizes of what the op writes depend on, as in "i32[bins]", unless the author says which values
// they take.
func sizeAttrs(op *opdef.Op) (attrs []*opdef.Attr) {
	sizes := map[string]bool{}
	for _, arg := range slices.Concat(op.Outputs, op.Scratch) {
		for _, dim := range arg.Type.Dims {
			if dim.Expr != nil {
				for _, name := range op.Needs(dim.Expr) {
					sizes[name] = true
				}
			}
		}
	}
	for i := range op.Attrs {
		if a := &op.Attrs[i]; a.Type == "int" && sizes[a.Name] && len(a.Among) == 0 && op.Samples[a.Name] == nil {
			attrs = append(attrs, a)
		}
	}
	return attrs
}

// sizeAttrPlans give such attrs the sizes that symbols get, as far as their bounds allow.
func sizeAttrPlans(op *opdef.Op, d DTypes) (plans []Plan) {
	for _, a := range sizeAttrs(op) {
		low, hasLow := a.Min.(int64)
		high, hasHigh := a.Max.(int64)
		for _, n := range append([]int64{0}, standardSizes...) {
			if (!hasLow || n >= low) && (!hasHigh || n <= high) {
				plans = append(plans, Plan{Name: "sizes", DTypes: d, Batch: []int64{2}, Attrs: map[string]any{a.Name: n}})
			}
		}
	}
	return plans
}
