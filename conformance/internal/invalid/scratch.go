package invalid

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// MissingScratchError is the error of a call without the scratch that its kernel takes.
func MissingScratchError(op *opdef.Op, i int, a *ndarray.Array) *rule.Error {
	text := fmt.Sprintf("%s: %s: expected a scratch array %s%s, got None", op.Name, op.Scratch[i].Name, a.DType.Long, rule.List(a.Shape))
	return &rule.Error{Class: "ValueError", Text: text}
}

// Scratch are the changes that give unfit work space, one array at a time. The rules tell the errors, but for one that
// is missing: whether that matters depends on the kernel.
func Scratch(c *cases.Case, caller calls.Caller, device string) ([]Change, error) {
	arrays, err := c.Scratch()
	if err != nil || !calls.IsBare(caller) {
		return nil, err
	}
	var out []Change
	for i, a := range arrays {
		name := c.Op.Scratch[i].Name
		add := func(kind string, want *rule.Error, spoil func(call *calls.Call)) {
			out = append(out, Change{Kind: kind, Arg: name, Phase: phaseScratch, Alone: true, Expected: want, edit: spoil})
		}
		if caller.Name() != calls.OpCallName && needsScratch(c, device) {
			add("scratch missing", MissingScratchError(c.Op, i, a), func(call *calls.Call) { call.Scratch[i] = nil })
		}
		for kind, bad := range badScratch(c, caller, device, a) {
			add(kind, nil, func(call *calls.Call) { call.Scratch[i] = bad })
		}
		for k, in := range c.Inputs {
			if in != nil && in.Len() > 0 && a.Len() > 0 {
				add("scratch in "+c.Op.Inputs[k].Name, nil, func(call *calls.Call) { call.Inputs[k], call.Scratch[i] = inOneMemory(in, a, 0) })
			}
		}
		for k, other := range arrays[:i] {
			add("scratch in "+c.Op.Scratch[k].Name, nil, func(call *calls.Call) { call.Scratch[k], call.Scratch[i] = inOneMemory(other, a, 0) })
		}
	}
	return out, nil
}

// needsScratch reports whether the kernel that dispatch chooses for a call works in scratch. None is chosen where nothing is
// written.
func needsScratch(c *cases.Case, device string) bool {
	if c.Empty() {
		return false
	}
	for _, k := range cases.KernelsOn(c.Op, device) {
		if fits := c.Acceptance(&k); fits != expr.KnownFalse {
			return fits == expr.KnownTrue && k.Scratch
		}
	}
	return false
}

// badScratch are arrays that cannot be the given scratch, by what is wrong with them.
func badScratch(c *cases.Case, caller calls.Caller, device string, a *ndarray.Array) map[string]*calls.Tensor {
	longer := append(slices.Clone(a.Shape), 1)
	other := dtype.Must("i8")
	if a.DType == other {
		other = dtype.Must("f32")
	}
	out := map[string]*calls.Tensor{
		"scratch shape": {Array: ndarray.New(a.DType, longer)}, "scratch dtype": {Array: ndarray.New(other, a.Shape)},
	}
	if elsewhere := otherDevice(caller, device); elsewhere != "" {
		out["scratch device"] = &calls.Tensor{Array: a, Device: elsewhere}
	}
	for _, layout := range ndarray.Layouts {
		if view := layout.Apply(a); view != nil && !view.IsDense() {
			out["scratch "+layout.Name] = &calls.Tensor{Array: view}
		}
	}
	return out
}
