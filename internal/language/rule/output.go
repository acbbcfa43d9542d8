package rule

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// output checks a given output against what the inputs imply.
func (e *evaluation) output(r Rule) error {
	if e.call.Out == nil {
		return nil
	}
	v := e.call.Out[r.Arg]
	if !v.Given && (r.Tensor.PresentIf != "" || r.Tensor.Saved) {
		return nil
	}
	if v.NotArray != "" {
		return expected("TypeError", r.Arg, "%s, got %s", e.call.Framework, v.NotArray)
	}
	return e.writable(r, v)
}

// scratch checks a scratch tensor. One that is not given is allocated, or not needed.
func (e *evaluation) scratch(r Rule) error {
	if v := e.call.Scratch[r.Arg]; v.Given {
		return e.writable(r, v)
	}
	return nil
}

// writable checks an array that is written from its beginning to its end.
func (e *evaluation) writable(r Rule, v Value) error {
	if carrier := e.carrier(r.Tensor.Type.Var); carrier != nil {
		if err := e.carried(r.Tensor, v, carrier); err != nil {
			return err
		}
	} else if want := e.outDType(r.Tensor.Type); v.DType != want {
		because := ""
		if e.program.Op.InputIndex(r.Other) >= 0 {
			because = " (as " + r.Other + ")"
		}
		return expected("TypeError", r.Arg, "dtype %s%s, got %s", want, because, v.DType)
	}
	if inputs := e.program.Op.Inputs; len(inputs) > 0 {
		if want := e.call.Inputs[inputs[0].Name].Device; v.Device != want {
			return expected("ValueError", r.Arg, "device %s (as %s), got %s", want, inputs[0].Name, v.Device)
		}
	}
	want, err := e.outShape(r.Tensor)
	if err != nil {
		return err
	}
	if !slices.Equal(v.Shape, want) {
		return expected("ValueError", r.Arg, "shape %s, got shape %s", List(want), List(v.Shape))
	}
	if err := overwritable(r.Arg, v, ""); err != nil {
		return err
	}
	return e.apart(r.Arg, v, e.before(r.Arg))
}

// before lists all inputs, and the outputs and scratch tensors before one.
func (e *evaluation) before(written string) []string {
	var names []string
	for _, a := range slices.Concat(e.program.Op.Inputs, e.program.Op.Outputs, e.program.Op.Scratch) {
		if a.Name == written {
			break
		}
		names = append(names, a.Name)
	}
	return names
}

// presence checks that an output is given exactly when it should exist.
func (e *evaluation) presence(r Rule) error {
	if e.call.Out == nil {
		return nil
	}
	given, because := e.call.Out[r.Arg].Given, r.Other
	wanted := e.call.Out[r.Other].Given
	if r.Tensor.PresentIf != "" {
		wanted = e.holds(r.Other)
	}
	if e.program.Op.Switch(r.Tensor) != nil {
		because = fmt.Sprintf("%s is %t", r.Other, wanted)
	}
	switch {
	case given && !wanted:
		return expected("ValueError", r.Arg, "None (as %s), got an array", because)
	case wanted && !given:
		return expected("ValueError", r.Arg, "an array (as %s), got None", because)
	}
	return nil
}

// holds says whether an optional input is given, or an attribute true.
func (e *evaluation) holds(name string) bool {
	if e.program.Op.InputIndex(name) >= 0 {
		return e.call.Inputs[name].Given
	}
	on, _ := e.program.Op.AttrValue(e.call.Attrs, name).(bool)
	return on
}

// outShape is the shape that an argument has under the sizes bound so far.
func (e *evaluation) outShape(a *opdef.Arg) ([]int64, error) {
	var out []int64
	for _, d := range a.Type.Dims {
		switch {
		case d.Leading() && a.Own:
			out = append(out, e.leads[a.At]...)
			continue
		case d.Leading():
			out = append(out, e.batch...)
			continue
		}
		n, err := d.Expr.Eval(e)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (e *evaluation) outDType(t opdef.Type) string {
	if t.Var == "" {
		return Long([]string{t.DType})[0]
	}
	if bound, ok := e.dtypes[t.Var]; ok {
		return bound
	}
	for _, a := range e.program.Op.Attrs {
		if a.Binds != t.Var {
			continue
		}
		if given, ok := e.call.Attrs[a.Name].(string); ok {
			return given
		}
		fallback, _ := a.Default.(string)
		if bound, ok := e.dtypes[fallback]; ok {
			return bound
		}
		return Long([]string{fallback})[0]
	}
	return ""
}
