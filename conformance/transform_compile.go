package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
)

// varies holds where a framework has transformations and the op has dims whose sizes can vary.
func varies(op *opdef.Op, caller Caller) error {
	if err := transforms(op, caller); err != nil {
		return err
	}
	return unless(len(variedDims(op)) > 0, "no size stands alone")
}

// checkJit compiles the op, then the op with its gradient, and calls twice with different contents.
func checkJit(t *T) error {
	first := true
	return t.each(func(d dtypes) error {
		plans := append(presencePlans(t.Op, d), rankZero(t.Op, d)...)
		if !first {
			plans = plans[:1]
		}
		for _, p := range plans {
			// Without a gradient one choice of dtypes is enough: the programs differ in nothing else.
			if first {
				if err := proceed(t.compiledTwice(p, false, "aot_eager")); err != nil {
					return err
				}
			}
			if !first || t.Op.Gradient != nil {
				if err := proceed(t.compiledTwice(p, true, "aot_eager")); err != nil {
					return err
				}
			}
		}
		first = false
		return nil
	})
}

func checkInductor(t *T) error {
	d, err := t.firstDTypes()
	if err != nil {
		return err
	}
	return t.compiledTwice(base(d), true, "inductor")
}

// compiledTwice calls a compiled op with two sets of arrays of the same sizes.
func (t *T) compiledTwice(p plan, gradient bool, backend string) error {
	var list []*prepared
	for _, name := range []string{"first", "again"} {
		p.name = name
		c, err := t.newCase(p)
		if err != nil {
			return err
		}
		made, err := t.prepare(c, gradient, name)
		if err != nil {
			return err
		}
		list = append(list, made)
	}
	name := fmt.Sprintf("%s, gradients of %v", list[0].c.Name, list[0].wrt)
	r, err := t.transform(name, request("jit", map[string]any{"backend": backend, "dynamic": false}, list...))
	if err != nil {
		return err
	}
	for i, made := range list {
		if t.gave(name, r, i, made.want()) {
			t.started(name, r, i, made.launches())
		}
	}
	return t.compiledOnce(name, r)
}

// compiledOnce expects that only the first call compiled. That one may do so more than once: Dynamo begins again when it
// learns that a number is a constant.
func (t *T) compiledOnce(name string, r *transformed) error {
	var facts struct{ Costs []int }
	if err := r.facts(&facts); err != nil {
		return err
	}
	if len(facts.Costs) < 2 || facts.Costs[0] == 0 || slices.Max(facts.Costs[1:]) > 0 {
		t.Fail(nil, name, "the calls compiled %v times, want only the first to compile", facts.Costs)
	}
	return nil
}

// checkDynamic calls one program with several sizes.
func checkDynamic(t *T) error {
	return t.eachVaried(func(list []*prepared, dims []string) error {
		if can(t.Caller, featureSymbolicExport) {
			return t.exported(list, dims)
		}
		name := list[0].c.Name
		r, err := t.transform(name, request("jit", map[string]any{"backend": "aot_eager", "dynamic": true}, list...))
		if err != nil {
			return err
		}
		for i, made := range list {
			t.gave(made.c.Name, r, i, made.want())
		}
		return t.compiledOnce(name, r)
	})
}

// checkExport saves and loads a program.
func checkExport(t *T) error {
	return t.eachVaried(func(list []*prepared, dims []string) error {
		if can(t.Caller, featureSymbolicExport) {
			return t.exported(list[:1], nil) // checkDynamic exports with variable sizes
		}
		for _, made := range list {
			made.wrt, made.gradients = []int{}, nil // a program of torch.export is the forward pass
		}
		return t.exported(list, dims)
	})
}

// eachVaried runs a body with calls that differ in some sizes, with and without each optional input.
func (t *T) eachVaried(body func(list []*prepared, dims []string) error) error {
	d, err := t.firstDTypes()
	if err != nil {
		return err
	}
	dims := variedDims(t.Op)
	for _, p := range presencePlans(t.Op, d) {
		var list []*prepared
		for _, c := range t.variedCases(d, dims, p.without) {
			made, err := t.prepare(c, true, "varied")
			if err != nil {
				return err
			}
			list = append(list, made)
		}
		if len(list) == 0 {
			continue // the definition's conditions fix these sizes
		}
		if err := proceed(body(list, dims)); err != nil {
			return err
		}
	}
	return nil
}

// exported sends a program through its file format and calls it with every size.
func (t *T) exported(list []*prepared, dims []string) error {
	c, name := list[0].c, list[0].c.Name
	axes := []map[string]string{}
	for _, i := range present(c) {
		axes = append(axes, variableAxes(c, t.Op.Inputs[i].Type, dims))
	}
	r, err := t.transform(name, request("export", map[string]any{"axes": axes}, list...))
	if err != nil {
		return err
	}
	for i, made := range list {
		t.gave(made.c.Name, r, i, made.want())
	}
	var facts struct {
		// Graph are the ops in torch's program, Types the results of JAX's.
		Graph, Types []string
	}
	if err := r.facts(&facts); err != nil {
		return err
	}
	if can(t.Caller, featureSymbolicExport) {
		t.exportedTypes(name, c, dims, facts.Types)
	} else if !slices.ContainsFunc(facts.Graph, t.isOp) {
		t.Fail(nil, name, "the program has no node %s, only %s", t.Op.Name, strings.Join(facts.Graph, ", "))
	}
	return nil
}

// isOp reports whether the name of a registered op, "collection.op.overload", is that of the op under test.
func (t *T) isOp(name string) bool { return registered(name, t.Op.Name) }

func registered(name, op string) bool {
	parts := strings.Split(name, ".")
	return len(parts) >= 2 && parts[1] == op
}

// exportedTypes expects result types in which the variable sizes are variables.
func (t *T) exportedTypes(name string, c *Case, dims, got []string) {
	types := resultTypes(c)
	if len(got) != len(types) {
		t.Fail(nil, name, "the program has %d results, want %d", len(got), len(types))
		return
	}
	for i, result := range types {
		shape, err := c.Shape(result)
		if err != nil {
			t.Fail(nil, name, "%v", err)
			return
		}
		parts := strings.Split(strings.Trim(list(shape), "[]"), ", ")
		for axis, variable := range variableAxes(c, result, dims) {
			parts[must(axis)] = variable
		}
		if want := c.DType(result).Long + "[" + strings.Join(parts, ", ") + "]"; got[i] != want && plainDims(result) {
			t.Fail(nil, name, "result %d of the program is %s, want %s", i, got[i], want)
		}
	}
}

// plainDims reports whether no dim of a type is computed from others.
func plainDims(t opdef.Type) bool {
	return !slices.ContainsFunc(t.Dims, func(d opdef.Dim) bool { return !d.Star && !d.Plain() })
}

// must is the number of an axis that variableAxes wrote.
func must(axis string) int {
	n := 0
	_, _ = fmt.Sscan(axis, &n) // it was made from a number
	return n
}
