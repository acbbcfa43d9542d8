package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/rule"
)

// plan says which call of an op a case shall be. What it leaves open is chosen: sizes by search, attrs by default.
type plan struct {
	// name distinguishes the contents of the inputs: equal plans of one name give equal bytes.
	name   string
	dtypes dtypes
	batch  []int64
	sizes  map[string]int64
	attrs  map[string]any
	// without lists optional inputs that are left out.
	without []string
	// scale multiplies random numbers; zero means 1.
	scale float64
	// unbounded lifts the limit on what a sample may cost; largest, if not zero, is another one, in elements of an argument.
	unbounded bool
	largest   int64
	// hollow leaves all arrays without elements: only shapes and dtypes matter.
	hollow bool
	// when is a condition that sizes and attrs have to meet; nil for none.
	when *expr.Expr
	// contents says what inputs with a range hold.
	contents contents
	// sampler makes contents in the author's place; nil means that they are random.
	sampler sampler
}

// dtypes binds the dtype variables of an op to short names.
type dtypes map[string]string

// String lists the variables, "O = float32, T = bfloat16".
func (d dtypes) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		parts = append(parts, name+" = "+long(d[name]))
	}
	return strings.Join(parts, ", ")
}

// long is the name of a dtype in messages.
func long(short string) string {
	d, _ := dtype.Lookup(short)
	return d.Long
}

// lookup finds a dtype of a loaded definition, whose names are known to be right.
func lookup(short string) dtype.DType {
	d, ok := dtype.Lookup(short)
	if !ok {
		panic("conformance: no dtype " + short)
	}
	return d
}

// Case is one right call of an op: everything that a caller needs, independent of the framework.
type Case struct {
	Op     *opdef.Op
	Name   string
	DTypes dtypes
	Batch  []int64
	Sizes  map[string]int64
	// Inputs has one array per input; nil where an optional input is left out.
	Inputs []*ndarray.Array
	// Attrs holds the attrs that are given; the others take their defaults.
	Attrs map[string]any
	// hollow is that of the plan; made are the inputs whose contents the author's samples made.
	hollow bool
	made   map[string]bool
}

// zeroed is an array of the case, full of zeros; without elements in a hollow one.
func (c *Case) zeroed(d dtype.DType, shape []int64) *ndarray.Array {
	if c.hollow {
		return &ndarray.Array{DType: d, Shape: shape, Strides: ndarray.DenseStrides(shape)}
	}
	return ndarray.New(d, shape)
}

// newCase makes the call that a plan describes; an error means that no sizes fit it.
func newCase(op *opdef.Op, p plan) (*Case, error) {
	c := &Case{Op: op, DTypes: p.dtypes, Batch: p.batch, Attrs: maps.Clone(p.attrs), hollow: p.hollow}
	if c.Attrs == nil {
		c.Attrs = map[string]any{}
	}
	c.requiredAttrs()
	var err error
	if c.Sizes, err = solveSizes(op, c.Attrs, p); err != nil {
		return nil, err
	}
	c.Name = c.describe(p.name)
	structured, err := c.structured(p)
	if err != nil {
		return nil, err
	}
	for i := range op.Inputs {
		in := &op.Inputs[i]
		if slices.Contains(p.without, in.Name) {
			c.Inputs = append(c.Inputs, nil)
			c.Name += ", no " + in.Name
			continue
		}
		if a := structured[in.Name]; a != nil {
			c.Inputs = append(c.Inputs, a)
			continue
		}
		a, err := c.fill(in, p)
		if err != nil {
			return nil, err
		}
		c.Inputs = append(c.Inputs, a)
	}
	return c, nil
}

// requiredAttrs gives attrs without a default their first allowed value, and dtype attrs the dtype of their variable.
func (c *Case) requiredAttrs() {
	for i := range c.Op.Attrs {
		a := &c.Op.Attrs[i]
		if _, given := c.Attrs[a.Name]; given {
			continue
		}
		if short := c.DTypes[a.Binds]; short != "" && short != c.defaultDType(a) {
			c.Attrs[a.Name] = DType(long(short))
		} else if !a.HasDefault {
			c.Attrs[a.Name] = attrValues(c.Op, a)[0]
		}
	}
}

// defaultDType is the short dtype that a dtype attr stands for when it is left out.
func (c *Case) defaultDType(a *opdef.Attr) string {
	name, _ := a.Default.(string)
	if bound, ok := c.DTypes[name]; ok {
		return bound
	}
	return name
}

func (c *Case) describe(name string) string {
	parts := []string{name}
	if c.Op.HasBatch() {
		parts = append(parts, fmt.Sprint("* = ", list(c.Batch)))
	}
	for _, s := range slices.Sorted(maps.Keys(c.Sizes)) {
		parts = append(parts, fmt.Sprintf("%s = %d", s, c.Sizes[s]))
	}
	for _, s := range slices.Sorted(maps.Keys(c.Attrs)) {
		parts = append(parts, fmt.Sprintf("%s = %v", s, c.Attrs[s]))
	}
	if len(c.DTypes) > 0 {
		parts = append(parts, c.DTypes.String())
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// fill draws the contents of an input. They depend on the plan's name, the op and the input, not on the caller.
func (c *Case) fill(in *opdef.Arg, p plan) (*ndarray.Array, error) {
	shape, err := c.Shape(in.Type)
	if err != nil {
		return nil, err
	}
	if c.hollow {
		return c.zeroed(c.DType(in.Type), shape), nil
	}
	limits := ndarray.Contents{Sorted: in.Sorted, Scale: p.scale}
	for _, bound := range []struct {
		expr *expr.Expr
		to   **float64
	}{{in.Min, &limits.Min}, {in.Max, &limits.Max}} {
		if bound.expr == nil {
			continue
		}
		v, err := bound.expr.EvalFloat(c)
		if err != nil {
			return nil, fmt.Errorf("range of %s: %w", in.Name, err)
		}
		*bound.to = &v
	}
	d := c.DType(in.Type)
	if values := p.contents.values(ndarray.Count(shape), limits); values != nil {
		return ndarray.FromFloats(d, shape, values), nil
	}
	rng := ndarray.Rand(strings.Join([]string{p.name, c.Op.Name, in.Name, list(shape)}, "/"))
	return ndarray.Random(rng, d, shape, limits), nil
}

// DType is the element type of an argument.
func (c *Case) DType(t opdef.Type) dtype.DType {
	if t.Var != "" {
		return lookup(c.DTypes[t.Var])
	}
	return lookup(t.DType)
}

// Shape is the shape of an argument.
func (c *Case) Shape(t opdef.Type) ([]int64, error) {
	shape := []int64{}
	for _, d := range t.Dims {
		if d.Star {
			shape = append(shape, c.Batch...)
			continue
		}
		n, err := d.Expr.Eval(c)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, fmt.Errorf("%s is negative", d.Expr.Text)
		}
		shape = append(shape, n)
	}
	return shape, nil
}

// Int makes a case the environment of expressions: sizes, lets, int and bool attrs.
func (c *Case) Int(name string) (int64, bool) {
	if v, ok := c.Sizes[name]; ok {
		return v, true
	}
	for _, l := range c.Op.Lets {
		if l.Name == name {
			v, err := l.Expr.Eval(c)
			return v, err == nil
		}
	}
	return opdef.IntValue(c.attr(name))
}

// List returns an int list attr.
func (c *Case) List(name string) ([]int64, bool) {
	v, ok := c.attr(name).([]int64)
	return v, ok
}

// attr is the value that an attr takes in the call; nil where the backend computes it.
func (c *Case) attr(name string) any { return c.Op.AttrValue(c.Attrs, name) }

// with returns a copy in which one input is another array.
func (c *Case) with(i int, a *ndarray.Array, note string) *Case {
	out := *c
	out.Inputs = slices.Clone(c.Inputs)
	out.Inputs[i] = a
	out.Name += ", " + note
	return &out
}

// withAttr returns a copy in which one attr has another value.
func (c *Case) withAttr(name string, v any) *Case {
	out := *c
	out.Attrs = maps.Clone(c.Attrs)
	out.Attrs[name] = v
	out.Name = fmt.Sprintf("%s, %s given as %T", c.Name, name, v)
	return &out
}

// list formats sizes as "[2, 3]".
func list(sizes []int64) string {
	return rule.List(sizes)
}
