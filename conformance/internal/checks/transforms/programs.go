package transforms

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// varies holds where a framework has transformations and the op has dims whose sizes can vary.
func varies(op *opdef.Op, caller calls.Caller) error {
	if err := transformed.Transforms(op, caller); err != nil {
		return err
	}
	return check.SkipUnless(len(variedDims(op)) > 0, "no size stands alone")
}

// compiledTwice calls a compiled op with two sets of arrays of the same sizes.
func compiledTwice(t *check.T, p cases.Plan, gradient bool, backend string) error {
	var list []*transformed.PreparedCall
	for _, name := range []string{"first", "again"} {
		p.Name = name
		c, err := t.NewCase(p)
		if err != nil {
			return err
		}
		made, err := transformed.Prepare(t, c, gradient, name)
		if err != nil {
			return err
		}
		list = append(list, made)
	}
	name := fmt.Sprintf("%s, gradients of %v", list[0].C.Name, list[0].Wrt)
	r, err := compiled(t, name, backend, false, list)
	if err != nil {
		return err
	}
	for i, made := range list {
		made.Expect(t, name, r.In("", i))
	}
	return nil
}

// compiled calls a compiled op, and expects that only the first call compiles. That one may do so more than once: Dynamo
// begins again when it learns that a number is a constant.
func compiled(t *check.T, name, backend string, dynamic bool, list []*transformed.PreparedCall) (*calls.Transformed, error) {
	var facts struct{ Costs []int }
	r, err := transformed.Send(t, name, transformed.Request("jit", map[string]any{"backend": backend, "dynamic": dynamic}, list...), &facts)
	if err == nil && (len(facts.Costs) < 2 || facts.Costs[0] == 0 || slices.Max(facts.Costs[1:]) > 0) {
		t.Fail(nil, name, "the calls compiled %v times, want only the first to compile", facts.Costs)
	}
	return r, err
}

// eachVaried runs a body with calls that differ in some sizes, with and without each optional input.
func eachVaried(t *check.T, body func(list []*transformed.PreparedCall, dims []string) error) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	dims := variedDims(t.Op)
	for _, p := range cases.OptionalPlans(t.Op, d) {
		var list []*transformed.PreparedCall
		for _, c := range variedCases(t, d, dims, p.Without) {
			made, err := transformed.Prepare(t, c, true, "varied")
			if err != nil {
				return err
			}
			list = append(list, made)
		}
		if len(list) == 0 {
			continue // the definition's conditions fix these sizes
		}
		if err := check.Proceed(body(list, dims)); err != nil {
			return err
		}
	}
	return nil
}

// exported sends a program through its file format and calls it with every size.
func exported(t *check.T, list []*transformed.PreparedCall, dims []string) error {
	c, name := list[0].C, list[0].C.Name
	axes := []map[int]string{}
	for _, i := range cases.GivenInputs(c) {
		axes = append(axes, variableAxes(c, &t.Op.Inputs[i], dims))
	}
	var facts struct {
		// Graph are the ops in torch's program, Types the results of JAX's.
		Graph, Types []string
	}
	r, err := transformed.Send(t, name, transformed.Request("export", map[string]any{"axes": axes, "ranges": ranges(c, dims)}, list...), &facts)
	if err != nil {
		return err
	}
	for i, made := range list {
		transformed.Expect(t, made.C.Name, r.In("", i), made.Expected())
	}
	if calls.HasFeature(t.Caller, calls.FeatureSymbolicExport) {
		exportedTypes(t, name, c, dims, facts.Types)
	} else if !slices.ContainsFunc(facts.Graph, func(node string) bool { return registered(node, t.Op.Name) }) {
		t.Fail(nil, name, "the program has no node %s, only %s", t.Op.Name, strings.Join(facts.Graph, ", "))
	}
	return nil
}

// ranges are the least and the greatest sizes of dims, where not all from 2 on are in question: the definition's conditions
// exclude some, and a program is for all sizes of a range, none of which, nor any that is computed from them, may be 0 or 1.
func ranges(c *cases.Case, dims []string) map[string]any {
	out := map[string]any{}
	for _, dim := range dims {
		allowed := func(n int64) bool {
			other := *c
			other.Sizes = maps.Clone(c.Sizes)
			other.Sizes[dim] = n
			return !slices.ContainsFunc(c.Op.Requires, func(e *expr.Expr) bool {
				v, err := e.Eval(&other)
				return err != nil || v == 0
			}) && !becomesOne(c, &other)
		}
		low, high := c.Sizes[dim], c.Sizes[dim]
		for low > 2 && allowed(low-1) {
			low--
		}
		for high < 1<<12 && allowed(high+1) {
			high++
		}
		open := high == 1<<12 && allowed(1<<40)
		switch {
		case opdef.IsLead(dim) || low <= 2 && open:
		case open:
			out[axisName(dim)] = []any{low, nil}
		default:
			out[axisName(dim)] = []any{low, high}
		}
	}
	return out
}

// becomesOne reports whether a dim of an argument that has several elements in one case has one or none in another.
func becomesOne(c, other *cases.Case) bool {
	return slices.ContainsFunc(slices.Concat(c.Op.Inputs, c.Op.Outputs), func(a opdef.Arg) bool {
		before, err := c.ShapeOf(&a)
		after, err2 := other.ShapeOf(&a)
		for i := range before {
			if err == nil && err2 == nil && before[i] > 1 && after[i] < 2 {
				return true
			}
		}
		return err == nil && err2 != nil
	})
}

// registered reports whether the name of a registered op, "collection.op.overload", is that of an op.
func registered(name, op string) bool {
	parts := strings.Split(name, ".")
	return len(parts) >= 2 && parts[1] == op
}

// exportedTypes expects result types in which the variable sizes are variables.
func exportedTypes(t *check.T, name string, c *cases.Case, dims, got []string) {
	types := transformed.ResultArgs(c)
	if len(got) != len(types) {
		t.Fail(nil, name, "the program has %d results, want %d", len(got), len(types))
		return
	}
	for i, result := range types {
		shape, err := c.ShapeOf(result)
		if err != nil {
			t.Fail(nil, name, "%v", err)
			return
		}
		parts := strings.Split(strings.Trim(rule.List(shape), "[]"), ", ")
		for axis, variable := range variableAxes(c, result, dims) {
			parts[axis] = variable
		}
		if want := c.DType(result.Type).Long + "[" + strings.Join(parts, ", ") + "]"; got[i] != want && plainDims(c.Op, result.Type) {
			t.Fail(nil, name, "result %d of the program is %s, want %s", i, got[i], want)
		}
	}
}

// plainDims reports whether no dim of a type is computed from others.
func plainDims(op *opdef.Op, t opdef.Type) bool {
	computed := func(d opdef.Dim) bool {
		return !d.Plain() || slices.ContainsFunc(op.Lets, func(l opdef.Let) bool { return l.Name == d.Text() })
	}
	return !slices.ContainsFunc(t.Dims, func(d opdef.Dim) bool { return !d.Leading() && computed(d) })
}
