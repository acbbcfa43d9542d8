package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// The phases of a call's checks, in the documented order. Each input has four: dtype, rank, dims, memory.
const (
	phaseMissing = iota
	phaseArray
	phaseAttr
	phaseDevice
	phaseInput
	phaseRequire  = 1000
	phaseCount    = 1400
	phasePresence = 1500
	phaseOutput   = 2000
	phaseScratch  = 2300
	phaseApart    = 2500
	phaseKernel   = 3000

	phasesPerInput = 4
	phaseOfDType   = 0
	phaseOfRank    = 1
	phaseOfDims    = 2
	phaseOfMemory  = 3
)

// fault is one way to spoil a right call.
type fault struct {
	kind, arg string
	phase     int
	// whole faults change several arguments and cannot be combined with others.
	whole bool
	spoil func(*Call)
	// lenient ones swap a number and a bool, which Python and tvm-ffi take for one another.
	lenient bool
	// want is the error; nil where the rules of the definition decide.
	want *rule.Fault
}

// sort is the phase of a fault, as that of the first input for faults of any.
func (f fault) sort() int {
	if f.phase >= phaseInput && f.phase < phaseRequire {
		return phaseInput + (f.phase-phaseInput)%phasesPerInput
	}
	return f.phase
}

// apply returns the spoiled call.
func (f fault) apply(call *Call) *Call {
	out := call.clone()
	f.spoil(out)
	return out
}

// expect is the error that a call must raise through a caller for the device; nil if it is right.
func expect(program *rule.Program, call *Call, caller Caller, device string) *rule.Fault {
	op := call.Op
	c := rule.Call{Framework: caller.Word(), Inputs: map[string]rule.Value{}, Attrs: map[string]any{}, Bare: isBare(caller)}
	for i, v := range call.Inputs {
		c.Inputs[op.Inputs[i].Name] = ruleValue(v, caller, device)
	}
	for name, v := range call.Attrs {
		switch v := v.(type) {
		case DType:
			c.Attrs[name] = string(v)
		case Wrong:
			c.Attrs[name] = rule.NotAttr("list")
		default:
			c.Attrs[name] = v
		}
	}
	if call.Out != nil {
		c.Out = map[string]rule.Value{}
		for i, t := range call.Out {
			if t != nil {
				c.Out[op.Outputs[i].Name] = ruleValue(t, caller, device)
			}
		}
	}
	if call.Scratch != nil {
		c.Scratch = map[string]rule.Value{}
		for i, t := range call.Scratch {
			if t != nil {
				c.Scratch[op.Scratch[i].Name] = ruleValue(t, caller, device)
			}
		}
	}
	return program.Check(c)
}

func ruleValue(v any, caller Caller, device string) rule.Value {
	switch v := v.(type) {
	case *Tensor:
		if v.Device != "" {
			device = v.Device
		}
		out := rule.Value{Given: true, DType: v.DType.Long, Device: device, Shape: v.Shape}
		if writesMemory(caller) {
			out.Strides, out.Offset, out.ReadOnly = v.Strides, v.Offset, v.ReadOnly
			if len(v.Data) > 0 && v.Device == "" {
				out.Buffer = fmt.Sprintf("%p", &v.Data[0])
			}
		}
		return out
	case Wrong:
		return rule.Value{Given: true, NotArray: "list"}
	}
	return rule.Value{}
}

// otherDevice is a device on which a caller can make arrays beside the one under test; "" if it cannot.
func otherDevice(caller Caller, device string) string {
	switch {
	case !isBare(caller):
		return abilitiesOf(caller).Elsewhere
	case device != "cpu":
		return "cpu"
	}
	return "cuda:0"
}

// wrongArguments are the faults in what is given for inputs and attrs.
func wrongArguments(c *Case, caller Caller, device string) []fault {
	var out []fault
	for i := range c.Op.Inputs {
		in := &c.Op.Inputs[i]
		set := func(kind string, phase int, v any) {
			out = append(out, fault{kind: kind, arg: in.Name, phase: phase, spoil: func(call *Call) { call.Inputs[i] = v }})
		}
		if !in.Optional {
			set("missing", phaseMissing, nil)
		}
		set("not an array", phaseArray, Wrong{1, 2})
		if c.Inputs[i] == nil {
			continue
		}
		if other := otherDevice(caller, device); i > 0 && other != "" {
			set("device", phaseDevice, &Tensor{Array: c.Inputs[i], Device: other})
		}
		shape := c.Inputs[i].Shape
		for kind, short := range wrongDTypes(c, in) {
			set(kind, phaseInput+phasesPerInput*i+phaseOfDType, &Tensor{Array: ndarray.New(lookup(short), shape)})
		}
		for kind, other := range wrongRanks(shape) {
			set(kind, phaseInput+phasesPerInput*i+phaseOfRank, &Tensor{Array: ndarray.New(c.Inputs[i].DType, other)})
		}
		for dim := range shape {
			other := slices.Clone(shape)
			other[dim]++
			bad := &Tensor{Array: ndarray.New(c.Inputs[i].DType, other)}
			set("dim "+list([]int64{int64(dim)}), phaseInput+phasesPerInput*i+phaseOfDims, bad)
		}
	}
	return append(out, wrongAttrs(c.Op, caller)...)
}

// wrongDTypes are one dtype that the input may never have, and one that only its partners forbid.
func wrongDTypes(c *Case, in *opdef.Arg) map[string]string {
	out := map[string]string{"dtype": "i32"}
	if in.Type.DType == "i32" {
		out["dtype"] = "f32"
	}
	for _, v := range c.Op.DTypes {
		for _, short := range v.OneOf {
			if v.Name == in.Type.Var && short != c.DTypes[v.Name] {
				out["dtype of partner"] = short
			}
			if v.Name == in.Type.Var && short == "i32" {
				out["dtype"] = "bool"
			}
		}
	}
	return out
}

func wrongRanks(shape []int64) map[string][]int64 {
	out := map[string][]int64{"rank above": append([]int64{2}, shape...), "rank zero": {}}
	if len(shape) > 1 {
		out["rank below"] = shape[1:]
	}
	return out
}

// wrongAttrs are values of wrong types and values outside of the declared ranges.
func wrongAttrs(op *opdef.Op, caller Caller) []fault {
	var out []fault
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if a.Binds != "" && isBare(caller) {
			continue // the output carries the dtype: the export has no such argument
		}
		give := func(kind string, v any, want *rule.Fault) {
			_, isBool := v.(bool)
			_, isInt := v.(int64)
			out = append(out, fault{
				kind: kind, arg: a.Name, phase: phaseAttr, lenient: isBool || isInt && a.Type == "bool", want: want,
				spoil: func(call *Call) { call.Attrs[a.Name] = v },
			})
		}
		for kind, v := range wrongValues(a) {
			give(kind, v, nil)
		}
		if a.Type == "int" || a.Len > 0 {
			out = append(out, fault{
				kind: "attr beyond sizes", arg: a.Name, phase: phaseAttr, whole: true,
				spoil: func(call *Call) { call.Attrs[a.Name] = integers(a, math.MaxInt64) },
			})
		}
		if a.Len > 1 {
			text := fmt.Sprintf("%s: %s: expected %d integers, got float", op.Name, a.Name, a.Len)
			give("attr element", Wrong(repeat(1, a.Len)), &rule.Fault{Class: "TypeError", Text: text})
		}
	}
	return out
}

func wrongValues(a *opdef.Attr) map[string]any {
	out := map[string]any{}
	if a.Len == 0 {
		out["attr type list"] = Wrong{1, 2}
	}
	switch {
	case a.Type == "float":
		out["attr type"], out["attr type bool"] = "nonsense", true
	case a.Type == "int":
		out["attr type"], out["attr type bool"] = 1.5, true
	case a.Type == "bool":
		out["attr type"] = int64(1)
	case a.Type == "str":
		out["attr type"] = int64(3)
	case a.Type == "dtype":
		out["attr type"], out["attr choice"] = 3.5, DType("int8")
	case a.Len > 0:
		out["attr type"], out["attr length"] = "nonsense", slices.Repeat([]int64{1}, a.Len+1)
	}
	if len(a.OneOf) > 0 {
		out["attr choice"] = "nonsense"
	}
	if low, ok := number(a.Min); ok {
		out["attr minimum"] = outside(a, low-1)
	}
	if high, ok := number(a.Max); ok {
		out["attr maximum"] = outside(a, high+1)
	}
	return out
}

// outside is a number as a value of the attr's type.
func outside(a *opdef.Attr, v float64) any {
	if a.Type == "float" {
		return v
	}
	return integers(a, int64(v))
}

// integers is an integer as a value of the attr's type.
func integers(a *opdef.Attr, n int64) any {
	if a.Len > 0 {
		return slices.Repeat([]int64{n}, a.Len)
	}
	return n
}
