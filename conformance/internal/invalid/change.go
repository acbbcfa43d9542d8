// Package invalid makes calls that must be refused, and knows the class and the text of the error that each must raise.
//
// Each is a valid call with one Change. The rules of the definition say what may be changed so that it is wrong: the
// dtype of an argument, its rank, a size, its memory, an attribute, an output.
package invalid

import (
	"fmt"
	"math"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// The phases of a call's checks, in the documented order. Each input has four: dtype, rank, dims, memory.
const (
	PhaseMissing = iota
	phaseArray
	PhaseAttr
	PhaseDevice
	PhaseInput
	PhaseRequire  = 1000
	PhaseCount    = 1400
	phasePresence = 1500
	phaseOutput   = 2000
	phaseScratch  = 2300
	PhaseOverlap  = 2500
	phaseKernel   = 3000

	phasesPerInput = 4
	PhaseOfDType   = 0
	PhaseOfRank    = 1
	PhaseOfDims    = 2
	phaseOfMemory  = 3
)

// Change is one change of a valid call that makes it invalid.
type Change struct {
	Kind, Arg string
	Phase     int
	// Alone says that the change affects several arguments, so that it cannot be combined with others.
	Alone bool
	edit  func(*calls.Call)
	// Lenient says that it puts a number in the place of a bool or the reverse: Python and tvm-ffi take both for one another.
	Lenient bool
	// Expected is the error that the call must raise; nil where the rules of the definition tell.
	Expected *rule.Error
}

// Sort is the phase of the check that finds the change. Changes of any input have the phases of the first input.
func (f Change) Sort() int {
	if f.Phase >= PhaseInput && f.Phase < PhaseRequire {
		return PhaseInput + (f.Phase-PhaseInput)%phasesPerInput
	}
	return f.Phase
}

// Apply returns a copy of the call with the change.
func (f Change) Apply(call *calls.Call) *calls.Call {
	out := call.Clone()
	f.edit(out)
	return out
}

// otherDevice is a device on which a caller can make arrays beside the one under test; "" if it cannot.
func otherDevice(caller calls.Caller, device string) string {
	switch {
	case !calls.IsBare(caller):
		return calls.AbilitiesOf(caller).Elsewhere
	case device != "cpu":
		return "cpu"
	}
	return "cuda:0"
}

// Arguments are the changes of what is given for inputs and attrs.
func Arguments(c *cases.Case, caller calls.Caller, device string) []Change {
	var out []Change
	for i := range c.Op.Inputs {
		in := &c.Op.Inputs[i]
		set := func(kind string, phase int, v any) {
			out = append(out, Change{Kind: kind, Arg: in.Name, Phase: phase, edit: func(call *calls.Call) { call.Inputs[i] = v }})
		}
		if !in.Optional {
			set("missing", PhaseMissing, nil)
		}
		set("not an array", phaseArray, calls.NumberList{1, 2})
		if c.Inputs[i] == nil {
			continue
		}
		if other := otherDevice(caller, device); i > 0 && other != "" {
			set("device", PhaseDevice, &calls.Tensor{Array: c.Inputs[i], Device: other})
		}
		shape := c.Inputs[i].Shape
		for kind, short := range wrongDTypes(c, in) {
			set(kind, PhaseInput+phasesPerInput*i+PhaseOfDType, &calls.Tensor{Array: ndarray.New(dtype.Must(short), shape)})
		}
		for kind, other := range wrongRanks(shape) {
			set(kind, PhaseInput+phasesPerInput*i+PhaseOfRank, &calls.Tensor{Array: ndarray.New(c.Inputs[i].DType, other)})
		}
		for dim := range shape {
			other := slices.Clone(shape)
			other[dim]++
			bad := &calls.Tensor{Array: ndarray.New(c.Inputs[i].DType, other)}
			set("dim "+rule.List([]int64{int64(dim)}), PhaseInput+phasesPerInput*turn(c.Op, i, dim-len(shape))+PhaseOfDims, bad)
		}
	}
	return append(out, Attributes(c.Op, caller)...)
}

// turn is the input with whose dims one of another input is checked, which counts from the end: a later one, if it sets the size.
func turn(op *opdef.Op, input, dim int) int {
	latest := 0
	for _, s := range op.Steps {
		latest = max(latest, s.Input)
		if s.Input == input && s.Dim-len(op.Inputs[input].Type.Dims) == dim {
			return max(latest, input)
		}
	}
	return input
}

// wrongDTypes are one dtype that the input may never have, and one that only its partners forbid.
func wrongDTypes(c *cases.Case, in *opdef.Arg) map[string]string {
	out := map[string]string{}
	if other, ok := foreign(c.Op, in.Type, c.DType(in.Type)); ok {
		out["dtype"] = other.Short
	}
	for _, v := range c.Op.DTypes {
		for _, short := range v.OneOf {
			if v.Name == in.Type.Var && short != c.DTypes[v.Name] {
				out["dtype of partner"] = short
			}
		}
	}
	return out
}

// foreign is a dtype that an argument of this type never has, or, and not ok, one that it does not have in this call.
func foreign(op *opdef.Op, t opdef.Type, now dtype.DType) (other dtype.DType, ok bool) {
	allowed := []string{now.Short}
	for _, v := range op.DTypes {
		if v.Name == t.Var {
			allowed = v.OneOf
		}
	}
	common := []string{"i32", "bool", "i8", "f32", "i64", "u8", "f64"}
	for _, short := range common {
		if !slices.Contains(allowed, short) {
			return dtype.Must(short), true
		}
	}
	i := slices.IndexFunc(common, func(short string) bool { return short != now.Short })
	return dtype.Must(common[i]), false
}

func wrongRanks(shape []int64) map[string][]int64 {
	out := map[string][]int64{"rank above": append([]int64{2}, shape...), "rank zero": {}}
	if len(shape) > 1 {
		out["rank below"] = shape[1:]
	}
	return out
}

// Attributes are the changes that give attrs values of wrong types, or values outside of their declared ranges.
func Attributes(op *opdef.Op, caller calls.Caller) []Change {
	var out []Change
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if a.Binds != "" && calls.IsBare(caller) {
			continue // the output carries the dtype: the export has no such argument
		}
		give := func(kind string, v any, want *rule.Error) {
			_, isBool := v.(bool)
			_, isInt := v.(int64)
			out = append(out, Change{
				Kind: kind, Arg: a.Name, Phase: PhaseAttr, Lenient: isBool || isInt && a.Type == "bool", Expected: want,
				edit: func(call *calls.Call) { call.Attrs[a.Name] = v },
			})
		}
		for kind, v := range wrongValues(op, a) {
			give(kind, v, nil)
		}
		if a.Type == "int" || a.Len != 0 {
			out = append(out, Change{
				Kind: "attr beyond sizes", Arg: a.Name, Phase: PhaseAttr, Alone: true,
				edit: func(call *calls.Call) { call.Attrs[a.Name] = integers(a, math.MaxInt64) },
			})
		}
		if n := a.Len; n > 1 || n < 0 {
			text := fmt.Sprintf("%s: %s: expected %s, got float", op.Name, a.Name, rule.Integers(n))
			give("attr element", calls.NumberList(slices.Repeat([]float64{1}, max(n, 2))), &rule.Error{Class: "TypeError", Text: text})
		}
	}
	return out
}

func wrongValues(op *opdef.Op, a *opdef.Attr) map[string]any {
	out := map[string]any{}
	if a.Len == 0 {
		out["attr type list"] = calls.NumberList{1, 2}
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
		out["attr type"] = 3.5
		if other, ok := foreign(op, opdef.Type{Var: a.Binds}, dtype.Must("i8")); ok {
			out["attr choice"] = cases.DType(other.Long)
		}
	case a.Len < 0:
		out["attr type"], out["attr type int"] = "nonsense", int64(1)
	case a.Len > 0:
		out["attr type"], out["attr length"] = "nonsense", slices.Repeat([]int64{1}, a.Len+1)
	}
	if len(a.OneOf) > 0 {
		out["attr choice"] = "nonsense"
	}
	if len(a.Among) > 0 {
		out["attr choice"] = slices.Max(a.Among) - 1
		if slices.Contains(a.Among, slices.Max(a.Among)-1) {
			out["attr choice"] = slices.Max(a.Among) + 1
		}
	}
	if low, ok := cases.ToFloat(a.Min); ok {
		out["attr minimum"] = outside(a, low-1)
	}
	if high, ok := cases.ToFloat(a.Max); ok {
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
	if a.Len != 0 {
		return slices.Repeat([]int64{n}, max(a.Len, 1))
	}
	return n
}
