package invalid

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/rule"
)

// ExpectedError is the error that a call must raise through a caller for the device; nil if it is valid.
func ExpectedError(program *rule.Program, call *calls.Call, caller calls.Caller, device string) *rule.Error {
	return program.Check(ruleCall(call, caller, device))
}

// ContentsFit reports whether the contents of the inputs are in the ranges that the definition gives for the sizes and
// attributes of a valid call. Kernels rely on them.
func ContentsFit(program *rule.Program, call *calls.Call, caller calls.Caller, device string) bool {
	env, _ := program.Evaluate(ruleCall(call, caller, device))
	for i, in := range call.Op.Inputs {
		x, isTensor := call.Inputs[i].(*calls.Tensor)
		if !isTensor || in.Min == nil && in.Max == nil && !in.Sorted || x.Len() == 0 {
			continue
		}
		limits, err := cases.LimitsOf(&in, env)
		if at, _ := limits.Outside(x.Array); err != nil || at >= 0 {
			return false
		}
	}
	return true
}

// ruleCall is a call as the rules see it.
func ruleCall(call *calls.Call, caller calls.Caller, device string) rule.Call {
	op := call.Op
	c := rule.Call{Framework: caller.ArrayWord(), Inputs: map[string]rule.Value{}, Attrs: map[string]any{}, Bare: calls.IsBare(caller)}
	for i, v := range call.Inputs {
		c.Inputs[op.Inputs[i].Name] = ruleValue(v, caller, device)
	}
	for name, v := range call.Attrs {
		switch v := v.(type) {
		case cases.DType:
			c.Attrs[name] = string(v)
		case calls.NumberList:
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
	return c
}

func ruleValue(v any, caller calls.Caller, device string) rule.Value {
	switch v := v.(type) {
	case *calls.Tensor:
		if v.Device != "" {
			device = v.Device
		}
		out := rule.Value{Given: true, DType: v.DType.Long, Device: device, Shape: v.Shape}
		if calls.IsBare(caller) {
			out.Strides = v.Strides
		}
		if calls.WritesMemory(caller) {
			out.Strides, out.Offset, out.ReadOnly = v.Strides, v.Offset, v.ReadOnly
			if len(v.Data) > 0 && v.Device == "" {
				out.Buffer = fmt.Sprintf("%p", &v.Data[0])
			}
		}
		return out
	case calls.NumberList:
		return rule.Value{Given: true, NotArray: "list"}
	case calls.NumPyNumber:
		return rule.Value{Given: true, NotArray: map[string]string{"bool": "bool", "int": "int64", "float": "float64"}[rule.PythonType(v.Value)], Number: v.Value}
	case string:
		return rule.Value{Given: true, NotArray: "str"}
	case bool, int64, float64:
		return rule.Value{Given: true, NotArray: rule.PythonType(v), Number: v}
	}
	return rule.Value{}
}
