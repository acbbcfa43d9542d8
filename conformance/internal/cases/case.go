// Package cases decides which valid calls of an op to make: the dtypes, sizes, attributes and contents of their arrays, and
// the kernels that take them.
//
// A Plan says what a call should be like, for example "size 1 along K" or "only denormal numbers"; a Case is the call that
// follows from a plan and a definition, independent of any framework. Equal plans give equal cases: everything is seeded.
package cases

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// Plan says which call of an op a case shall be. What it leaves open is chosen: sizes by search, attrs by default.
type Plan struct {
	// Name distinguishes the contents of the inputs: equal plans of one name give equal bytes.
	Name   string
	DTypes DTypes
	Batch  []int64
	// Leads are the leading dims of inputs that are broadcast, by name; of the others something is chosen, another for each
	// Shift.
	Leads map[string][]int64
	Shift int
	Sizes map[string]int64
	// Near says that other sizes will do where conditions exclude these: the nearest that they allow.
	Near  bool
	Attrs map[string]any
	// Without lists optional inputs that are left out.
	Without []string
	// Scale multiplies random numbers; zero means 1.
	Scale float64
	// Unbounded lifts the limit on what a sample may cost; Largest, if not zero, is another one, in elements of an argument.
	Unbounded bool
	Largest   int64
	// NoData leaves all arrays without elements: only shapes and dtypes matter.
	NoData bool
	// When is a condition that sizes and attrs have to meet; nil for none.
	When *expr.Expr
	// Contents says what inputs with a range hold.
	Contents Contents
	// Sampler makes contents in the author's place; nil means that they are random.
	Sampler Sampler
}

// DTypes binds the dtype variables of an op to short names.
type DTypes map[string]string

// String lists the variables, "O = float32, T = bfloat16".
func (d DTypes) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		parts = append(parts, name+" = "+dtype.LongName(d[name]))
	}
	return strings.Join(parts, ", ")
}

// Case is one valid call of an op: everything that a caller needs, independent of the framework.
type Case struct {
	Op     *opdef.Op
	Name   string
	DTypes DTypes
	// Batch are the leading dims, Leads those of the inputs that are broadcast to them.
	Batch []int64
	Leads map[string][]int64
	Sizes map[string]int64
	// Inputs has one array per input; nil where an optional input is left out.
	Inputs []*ndarray.Array
	// Ordinary are the inputs before they got special numbers; nil where they did not. Results may be off as with these.
	Ordinary []*ndarray.Array
	// Attrs holds the attrs that are given; the others take their defaults.
	Attrs map[string]any
	// noData is that of the plan; Sampled are the inputs whose contents the author's samples made.
	noData  bool
	Sampled map[string]bool
}

// zeros is an array of the case, full of zeros; without elements in a hollow one.
func (c *Case) zeros(d dtype.DType, shape []int64) *ndarray.Array {
	if c.noData {
		return &ndarray.Array{DType: d, Shape: shape, Strides: ndarray.DenseStrides(shape)}
	}
	return ndarray.New(d, shape)
}

// New makes the call that a plan describes; an error means that no sizes fit it. Results that attrs switch on are there, as optional
// inputs are, unless the conditions or the author's samples are against it.
func New(op *opdef.Op, p Plan) (*Case, error) {
	p.DTypes = dtypesWithout(op, p)
	p = switchedOn(op, p)
	c, err := sized(op, p)
	if err != nil {
		return nil, err
	}
	p.Batch = c.Batch
	c.Name = c.describe(p.Name)
	structured, err := c.sampledInputs(p)
	if err != nil {
		return nil, err
	}
	for i := range op.Inputs {
		in := &op.Inputs[i]
		if slices.Contains(p.Without, in.Name) {
			c.Inputs = append(c.Inputs, nil)
			c.Name += ", no " + in.Name
			continue
		}
		if a := structured[in.Name]; a != nil {
			c.Inputs = append(c.Inputs, a)
			continue
		}
		a, err := c.Fill(in, p)
		if err != nil {
			return nil, err
		}
		c.Inputs = append(c.Inputs, a)
	}
	c.Name += c.numbers()
	return c, nil
}

// sized is a call without inputs.
func sized(op *opdef.Op, p Plan) (*Case, error) {
	c := &Case{Op: op, DTypes: p.DTypes, Batch: p.Batch, Attrs: maps.Clone(p.Attrs), noData: p.NoData}
	c.RequiredAttrs()
	c.chooseLeads(p)
	p.Batch = c.Batch
	var err error
	c.Sizes, err = solveSizes(op, c.Attrs, p)
	return c, err
}

// numbers are the values of inputs that are single numbers, for the description.
func (c *Case) numbers() (text string) {
	for i, a := range c.Inputs {
		if a != nil && a.Rank() == 0 && len(a.Data) > 0 {
			text += ", " + c.Op.Inputs[i].Name + " = " + ndarray.Text(a.DType, a.Bytes(), 0)
		}
	}
	return text
}

func (c *Case) describe(name string) string {
	parts := []string{name}
	if c.Op.HasBatch() {
		parts = append(parts, fmt.Sprint(c.Op.Lead(), " = ", rule.List(c.Batch)))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Leads)) {
		if i := c.Op.InputIndex(name); i >= 0 && (c.Op.Inputs[i].Own || !slices.Equal(c.Leads[name], c.Batch)) {
			parts = append(parts, fmt.Sprintf("%s of %s = %s", c.Op.Inputs[i].Type.Lead(), name, rule.List(c.Leads[name])))
		}
	}
	for _, s := range slices.Sorted(maps.Keys(c.Sizes)) {
		if !strings.Contains(s, "[") {
			parts = append(parts, fmt.Sprintf("%s = %d", s, c.Sizes[s]))
		}
	}
	for _, s := range c.Op.Whole().PerElement {
		list, _ := c.List(s)
		parts = append(parts, s+" = "+shortList(list))
	}
	for _, s := range slices.Sorted(maps.Keys(c.Attrs)) {
		value := fmt.Sprint(c.Attrs[s])
		if list, isList := c.Attrs[s].([]int64); isList {
			value = shortList(list)
		}
		parts = append(parts, s+" = "+value)
	}
	if len(c.DTypes) > 0 {
		parts = append(parts, c.DTypes.String())
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// shortList is a list, of which the middle is left out where it is long.
func shortList(list []int64) string {
	const most = 8
	if len(list) <= most {
		return rule.List(list)
	}
	return fmt.Sprintf("%d sizes from %s on", len(list), rule.List(list[:2]))
}

// Fill draws the contents of an input. They depend on the plan's name, the op and the input, not on the caller.
func (c *Case) Fill(in *opdef.Arg, p Plan) (*ndarray.Array, error) {
	shape, err := c.ShapeOf(in)
	if err != nil {
		return nil, err
	}
	if c.noData {
		return c.zeros(c.DType(in.Type), shape), nil
	}
	limits, err := LimitsOf(in, c)
	if err != nil {
		return nil, err
	}
	limits.Scale = p.Scale
	if limits.Min != nil && limits.Max != nil && limits.Min.Cmp(limits.Max) > 0 && ndarray.Count(shape) > 0 {
		return nil, fmt.Errorf("%w: nothing is in the range of %s", ErrNoSizes, in.Name)
	}
	d := c.DType(in.Type)
	if a := p.Contents.fill(d, shape, limits); a != nil {
		return a, nil
	}
	rng := ndarray.Rand(strings.Join([]string{p.Name, c.Op.Name, in.Name, rule.List(shape)}, "/"))
	limits = allCodes(in, d, limits)
	return ndarray.Random(rng, d, shape, limits), nil
}

// DType is the element type of an argument.
func (c *Case) DType(t opdef.Type) dtype.DType {
	if t.Var != "" {
		return dtype.Must(c.DTypes[t.Var])
	}
	return dtype.Must(t.DType)
}

// Shape is the shape of an argument.
func (c *Case) Shape(t opdef.Type) ([]int64, error) {
	shape := []int64{}
	for _, d := range t.Dims {
		if d.Leading() {
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

// With returns a copy in which one input is another array.
func (c *Case) With(i int, a *ndarray.Array, note string) *Case {
	out := *c
	out.Inputs = slices.Clone(c.Inputs)
	out.Inputs[i] = a
	if a == nil {
		out.DTypes = dtypesWithout(c.Op, Plan{DTypes: c.DTypes, Without: []string{c.Op.Inputs[i].Name}})
	}
	out.Name += ", " + note
	return &out
}

// WithAttr returns a copy in which one attr has another value.
func (c *Case) WithAttr(name string, v any) *Case {
	out := *c
	out.Attrs = maps.Clone(c.Attrs)
	out.Attrs[name] = v
	out.Name = fmt.Sprintf("%s, %s given as %T", c.Name, name, v)
	return &out
}

// LeftOut returns a copy that leaves an attr to its default.
func (c *Case) LeftOut(attr string) *Case {
	out := c.WithAttr(attr, nil)
	delete(out.Attrs, attr)
	out.Name = c.Name + ", " + attr + " left out"
	return out
}

// GivenInputs are the indices of the inputs that a case gives.
func GivenInputs(c *Case) []int {
	var out []int
	for i, in := range c.Inputs {
		if in != nil {
			out = append(out, i)
		}
	}
	return out
}

// OrEmpty keeps JSON from saying null.
func OrEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
