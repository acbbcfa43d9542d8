package conformance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/rule"
)

// wrongSizes are calls whose arguments fit each other but break a condition or give an output a negative size. The rules
// tell what to look for; a search over small sizes and attr values finds it.
func wrongSizes(c *Case, program *rule.Program) []fault {
	var out []fault
	for _, r := range program.Rules {
		if r.Kind != rule.Require && r.Kind != rule.OutSize || r.NonNegative {
			continue
		}
		bad := findSizes(c, func(try *Case) bool {
			for _, other := range program.Rules {
				if other.Kind != rule.Require && other.Kind != rule.OutSize {
					continue
				}
				v, err := other.Expr.Eval(try)
				broken := err != nil || other.Kind == rule.Require && v == 0 || other.Kind == rule.OutSize && v < 0
				if broken {
					return other.Expr == r.Expr // the first one broken is the one sought
				}
			}
			return false
		})
		if bad == nil {
			continue
		}
		out = append(out, fault{kind: "condition " + r.Form, arg: r.Arg, phase: phaseRequire, whole: true, spoil: func(call *Call) {
			call.Attrs = bad.Attrs
			for i, in := range bad.Inputs {
				if in == nil {
					call.Inputs[i] = nil
				} else if call.Inputs[i] != nil {
					call.Inputs[i] = &Tensor{Array: in}
				}
			}
		}})
	}
	return out
}

// findSizes searches sizes from 1 to 4 and the sweep values of the attrs for a call that the test accepts.
func findSizes(c *Case, test func(*Case) bool) *Case {
	f := &finder{
		names: symbols(c.Op), test: test,
		try: &Case{Op: c.Op, DTypes: c.DTypes, Batch: c.Batch, Sizes: map[string]int64{}, Attrs: maps.Clone(c.Attrs)},
	}
	if f.attrs(0) {
		return f.try
	}
	return nil
}

// finder is the state of a search.
type finder struct {
	names []string
	test  func(*Case) bool
	try   *Case
	tries int
}

// attrs tries values of the attrs from the i-th on that can appear in conditions; their defaults come first.
func (f *finder) attrs(i int) bool {
	if i == len(f.try.Op.Attrs) {
		f.tries = 0 // every choice of attrs gets its share: a condition may need the last one
		return f.sizes(0)
	}
	a := &f.try.Op.Attrs[i]
	if f.attrs(i + 1) {
		return true
	}
	if a.Type != "int" && a.Len == 0 {
		return false
	}
	before, given := f.try.Attrs[a.Name]
	for _, v := range rangeValues(f.try.Op, a) {
		f.try.Attrs[a.Name] = v
		if f.attrs(i + 1) {
			return true
		}
	}
	delete(f.try.Attrs, a.Name)
	if given {
		f.try.Attrs[a.Name] = before
	}
	return false
}

func (f *finder) sizes(i int) bool {
	if f.tries++; f.tries > maxTries {
		return false
	}
	if i == len(f.names) {
		return f.test(f.try) && f.try.zeroInputs() == nil
	}
	for n := int64(1); n <= 4; n++ {
		f.try.Sizes[f.names[i]] = n
		if f.sizes(i + 1) {
			return true
		}
	}
	return false
}

// zeroInputs makes the inputs of a case arrays of zeros; an optional one that cannot be is absent.
func (c *Case) zeroInputs() error {
	c.Inputs = nil
	for i := range c.Op.Inputs {
		in := &c.Op.Inputs[i]
		shape, err := c.Shape(in.Type)
		switch {
		case err == nil:
			c.Inputs = append(c.Inputs, ndarray.New(c.DType(in.Type), shape))
		case in.Optional:
			c.Inputs = append(c.Inputs, nil)
		default:
			return err
		}
	}
	return nil
}

// wrongOutputs are calls with one unfit output array each. Their errors are stated here, not asked of the rules, but for
// which outputs exist and whether they share memory.
func wrongOutputs(c *Case, caller Caller, device string) ([]fault, error) {
	results, err := c.results()
	if err != nil {
		return nil, err
	}
	out := slices.Concat(wrongCount(c, caller, results), wrongPresence(c, caller), sharedOutputs(c, caller, results))
	for i, o := range results[:len(c.Op.Outputs)] {
		if o == nil || c.Op.Outputs[i].Saved && !isBare(caller) {
			continue
		}
		for _, m := range misfits(c, caller, device, i, o) {
			name := c.Op.Outputs[i].Name
			out = append(out, fault{
				kind: m.kind, arg: name, phase: phaseOutput, whole: m.shares != nil,
				want: &rule.Fault{
					Class: m.class, Text: fmt.Sprintf("%s: %s: expected %s, got %s", c.Op.Name, name, m.expected, m.got),
				},
				spoil: func(call *Call) {
					call.Out[i] = m.out
					if m.shares != nil {
						call.Inputs[m.input] = m.shares
					}
				},
			})
		}
	}
	return out, nil
}

// misfit is an output array that must be refused; one that overlaps brings the input along.
type misfit struct {
	kind, class, expected, got string
	out, shares                *Tensor
	input                      int
}

func misfits(c *Case, caller Caller, device string, i int, o *ndarray.Array) []misfit {
	longer := append(append([]int64{}, o.Shape...), 1)
	other := lookup("i8")
	out := []misfit{
		{"out shape", "ValueError", "shape " + list(o.Shape), "shape " + list(longer), &Tensor{Array: ndarray.New(o.DType, longer)}, nil, 0},
		{"out dtype", "TypeError", outputDType(c, caller, i, o), other.Long, &Tensor{Array: ndarray.New(other, o.Shape)}, nil, 0},
		{"out read-only", "ValueError", "writable memory", "a read-only array", &Tensor{Array: o, ReadOnly: true}, nil, 0},
	}
	if other := otherDevice(caller, device); other != "" {
		expected := "device " + device + " (as " + c.Op.Inputs[0].Name + ")"
		out = append(out, misfit{"out device", "ValueError", expected, other, &Tensor{Array: o, Device: other}, nil, 0})
	}
	if o.Rank() > 0 {
		wide := &ndarray.Array{DType: o.DType, Shape: o.Shape, Data: make([]byte, 2*len(o.Data))}
		for _, s := range o.Strides {
			wide.Strides = append(wide.Strides, 2*s)
		}
		out = append(out, misfit{
			"out layout", "ValueError", "contiguous memory", "strides " + list(wide.Strides), &Tensor{Array: wide}, nil, 0,
		})
	}
	return append(out, overlapping(c, o)...)
}

// overlapping puts an output and an input into the same memory.
func overlapping(c *Case, o *ndarray.Array) []misfit {
	var out []misfit
	for i, in := range c.Inputs {
		if in == nil {
			continue
		}
		x, y := inOneMemory(in, o, 0)
		out = append(out, misfit{
			"out overlap", "ValueError", "memory apart from " + c.Op.Inputs[i].Name, "overlapping memory", y, x, i,
		})
	}
	return out
}

// outputDType is what messages say that an output's dtype should be. The backend learns the dtype that an attr chooses from
// the output itself.
func outputDType(c *Case, caller Caller, i int, o *ndarray.Array) string {
	name := c.Op.Outputs[i].Type.Var
	for _, a := range c.Op.Attrs {
		if name == "" || a.Binds != name {
			continue
		}
		if !isBare(caller) {
			return "dtype " + o.DType.Long
		}
		for _, v := range c.Op.DTypes {
			if v.Name == name {
				return "dtype " + rule.Or(rule.Long(v.OneOf))
			}
		}
	}
	for _, in := range c.Op.Inputs {
		if name != "" && in.Type.Var == name {
			return "dtype " + o.DType.Long + " (as " + in.Name + ")"
		}
	}
	return "dtype " + o.DType.Long
}
