package invalid

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
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
		bad := findBroken(c, program, r, func(try *cases.Case) bool {
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
