package invalid

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// Sizes are the changes after which arguments fit each other but break a condition or give an output a negative size.
// The rules tell what to look for; a search over small sizes and attr values finds it.
func Sizes(c *cases.Case, program *rule.Program) []Change {
	var out []Change
	for _, r := range program.Rules {
		if r.Kind != rule.Require && r.Kind != rule.OutSize || r.Huge {
			continue
		}
		bad := findBroken(c, r, func(try *cases.Case) bool {
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
		edit := func(call *calls.Call) { put(call, bad) }
		out = append(out, Change{Kind: "condition " + r.Form, Arg: r.Arg, Phase: PhaseRequire, Alone: true, edit: edit})
	}
	return out
}

// put gives a call the attrs and inputs of another case; what it leaves out stays out.
func put(call *calls.Call, other *cases.Case) {
	call.Attrs = other.Attrs
	for i, in := range other.Inputs {
		if in == nil {
			call.Inputs[i] = nil
		} else if call.Inputs[i] != nil {
			call.Inputs[i] = &calls.Tensor{Array: in}
		}
	}
}

// findBroken searches for a call that the test accepts: with the dtypes of the case, else, for a condition that mentions
// dtypes, with some that a condition excludes. An attr that chooses a dtype stays as it is.
func findBroken(c *cases.Case, r rule.Rule, test func(*cases.Case) bool) *cases.Case {
	numbers := numbersAround(c.Op, r.Expr)
	if bad := findSizes(c, numbers, test); bad != nil || r.Hint == "" {
		return bad
	}
	for _, d := range cases.ExcludedDTypes(c.Op) {
		sameAttrs := !slices.ContainsFunc(c.Op.Attrs, func(a opdef.Attr) bool { return a.Binds != "" && d[a.Binds] != c.DTypes[a.Binds] })
		if !sameAttrs {
			continue
		}
		other := *c
		other.DTypes = d
		if bad := findSizes(&other, numbers, test); bad != nil {
			return bad
		}
	}
	return nil
}

// numbersAround are small numbers, those at which a condition may change, and the next ones to them that other conditions want:
// "N <= 4096" is broken by 4098 where N is even.
func numbersAround(op *opdef.Op, e *expr.Expr) []int64 {
	numbers := append([]int64{1, 2, 3, 4, 0}, cases.NumbersAround(e, 4)...)
	for _, other := range op.Requires {
		other.Walk(func(n *expr.Expr) {
			if n.Op != expr.OpMod || n.Args[1].Op != expr.OpConst || n.Args[1].Value < 2 {
				return
			}
			for _, around := range cases.NumbersAround(e, 4) {
				multiple := around / n.Args[1].Value * n.Args[1].Value
				for _, m := range []int64{multiple, multiple + n.Args[1].Value} {
					if !slices.Contains(numbers, m) {
						numbers = append(numbers, m)
					}
				}
			}
		})
	}
	return numbers
}

// findSizes searches the numbers, and for attrs also the values of their sweep, for a call that the test accepts.
func findSizes(c *cases.Case, numbers []int64, test func(*cases.Case) bool) *cases.Case {
	f := &sizeSearch{
		names: cases.Symbols(c.Op), numbers: numbers, test: test, asked: c.Op.ConditionNames(),
		try: &cases.Case{Op: c.Op, DTypes: c.DTypes, Batch: c.Batch, Leads: c.Leads, Sizes: map[string]int64{}, Attrs: maps.Clone(c.Attrs)},
	}
	if f.attrs(0) {
		return f.try
	}
	return nil
}

// sizeSearch is the state of a search.
type sizeSearch struct {
	names   []string
	numbers []int64
	// asked are the names that conditions and sizes mention: of other attrs than integers only these can matter.
	asked []string
	test  func(*cases.Case) bool
	try   *cases.Case
	tries int
}

// attrs tries values of the attrs from the i-th on that can appear in conditions; their defaults come first.
func (f *sizeSearch) attrs(i int) bool {
	if i == len(f.try.Op.Attrs) {
		f.tries = 0 // every choice of attrs gets its share: a condition may need the last one
		return f.sizes(0)
	}
	a := &f.try.Op.Attrs[i]
	if f.attrs(i + 1) {
		return true
	}
	if integer := a.Type == "int" || a.Len != 0; a.Type == "dtype" || a.Optional || !integer && !slices.Contains(f.asked, a.Name) {
		return false
	}
	before, given := f.try.Attrs[a.Name]
	for _, v := range cases.TriedValues(f.try.Op, a, f.numbers[5:]) { // the conditions' own
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

func (f *sizeSearch) sizes(i int) bool {
	if f.tries++; f.tries > cases.MaxTries {
		return false
	}
	if i == len(f.names) {
		return f.test(f.try) && zeroInputs(f.try) == nil
	}
	for _, n := range f.numbers {
		f.try.Sizes[f.names[i]] = n
		if f.sizes(i + 1) {
			return true
		}
	}
	return false
}

// zeroInputs makes the inputs of a case arrays of zeros; an optional one that cannot be is absent.
func zeroInputs(c *cases.Case) error {
	c.Inputs = nil
	for i := range c.Op.Inputs {
		in := &c.Op.Inputs[i]
		shape, err := c.ShapeOf(in)
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

// Outputs are the changes that give one unfit output array each. Their errors are stated here, not asked of the rules,
// but for which outputs exist and whether they share memory.
func Outputs(c *cases.Case, caller calls.Caller, device string) ([]Change, error) {
	results, err := c.ZeroResults()
	if err != nil {
		return nil, err
	}
	out := slices.Concat(outputCount(c, caller, results), outputPresence(c, caller), sharedOutputs(c, caller, results))
	for i, o := range results[:len(c.Op.Outputs)] {
		if o == nil || c.Op.Outputs[i].Saved && !calls.IsBare(caller) {
			continue
		}
		for _, m := range badOutputs(c, caller, device, i, o) {
			name := c.Op.Outputs[i].Name
			phase := phaseOutput
			if m.kind == "out dtype" && calls.IsBare(caller) && carries(c.Op, name) {
				phase = PhaseAttr
			}
			out = append(out, Change{
				Kind: m.kind, Arg: name, Phase: phase, Alone: m.shares != nil,
				Expected: &rule.Error{
					Class: m.class, Text: fmt.Sprintf("%s: %s: expected %s, got %s", c.Op.Name, name, m.expected, m.got),
				},
				edit: func(call *calls.Call) {
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

// carries says whether the library reads the dtype that an attr chooses off an output before it looks at the inputs.
func carries(op *opdef.Op, output string) bool {
	return slices.ContainsFunc(rule.Compile(op).Rules, func(r rule.Rule) bool { return r.Kind == rule.Carried && r.Arg == output })
}

// badOutput is an output array that must be refused; one that overlaps brings the input along.
type badOutput struct {
	kind, class, expected, got string
	out, shares                *calls.Tensor
	input                      int
}

func badOutputs(c *cases.Case, caller calls.Caller, device string, i int, o *ndarray.Array) []badOutput {
	longer := append(append([]int64{}, o.Shape...), 1)
	other, _ := foreign(c.Op, c.Op.Outputs[i].Type, o.DType)
	out := []badOutput{
		{"out shape", "ValueError", "shape " + rule.List(o.Shape), "shape " + rule.List(longer), &calls.Tensor{Array: ndarray.New(o.DType, longer)}, nil, 0},
		{"out dtype", "TypeError", outputDType(c, caller, i, o), other.Long, &calls.Tensor{Array: ndarray.New(other, o.Shape)}, nil, 0},
		{"out read-only", "ValueError", "writable memory", "a read-only array", &calls.Tensor{Array: o, ReadOnly: true}, nil, 0},
	}
	if other := otherDevice(caller, device); other != "" {
		expected := "device " + device + " (as " + c.Op.Inputs[0].Name + ")"
		out = append(out, badOutput{"out device", "ValueError", expected, other, &calls.Tensor{Array: o, Device: other}, nil, 0})
	}
	if o.Rank() > 0 {
		wide := &ndarray.Array{DType: o.DType, Shape: o.Shape, Data: make([]byte, 2*len(o.Data))}
		for _, s := range o.Strides {
			wide.Strides = append(wide.Strides, 2*s)
		}
		if !wide.IsDense() {
			out = append(out, badOutput{
				"out layout", "ValueError", "contiguous memory", "strides " + rule.List(wide.Strides), &calls.Tensor{Array: wide}, nil, 0,
			})
		}
	}
	return append(out, overlapping(c, o)...)
}

// overlapping puts an output and an input into the same memory.
func overlapping(c *cases.Case, o *ndarray.Array) []badOutput {
	var out []badOutput
	for i, in := range c.Inputs {
		if in == nil || in.Len() == 0 || o.Len() == 0 {
			continue
		}
		x, y := inOneMemory(in, o, 0)
		out = append(out, badOutput{
			"out overlap", "ValueError", "memory apart from " + c.Op.Inputs[i].Name, "overlapping memory", y, x, i,
		})
	}
	return out
}

// outputDType is what messages say that an output's dtype should be. The backend learns the dtype that an attr chooses from
// the output itself.
func outputDType(c *cases.Case, caller calls.Caller, i int, o *ndarray.Array) string {
	name := c.Op.Outputs[i].Type.Var
	for _, a := range c.Op.Attrs {
		if name == "" || a.Binds != name {
			continue
		}
		if !calls.IsBare(caller) {
			return "dtype " + o.DType.Long
		}
		if carrier := rule.Carrier(c.Op, name); carrier != &c.Op.Outputs[i] {
			return "dtype " + o.DType.Long + " (as " + carrier.Name + ")"
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
