package cpp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// An op as PyTorch's stable ABI knows it: signatures, and rows of the tables that the library reads.

// StableEntries initialises the forms in which the op can be called: results returned; those that only the gradient needs, too;
// results written to given tensors; numbers in the place of inputs. index is the number of the op.
func (v *handlerOp) StableEntries(index int) []string {
	row := func(form string, has bool, signature string) string {
		if !has {
			return "{nullptr, nullptr}"
		}
		return fmt.Sprintf("{%q, Kernel<%d, Form::%s>}", signature, index, form)
	}
	return []string{
		row("kPlain", true, v.stableSignature(v.stableArguments(len(v.Mutated()) > 0), false)),
		row("kTrain", v.hasSaved(), v.stableSignature(v.stableArguments(len(v.Mutated()) > 0), true)),
		row("kInto", v.TakesOut(), v.stableInto()),
		row("kNumbers", v.HasNumbers(), v.stableNumbers()),
	}
}

// stableSignature is the schema in PyTorch's registry without its name, of the form that also returns what only the gradient
// needs or of the other. It has no defaults: PyTorch would strip arguments that equal them.
func (v *handlerOp) stableSignature(args []string, saved bool) string {
	var results []string
	for _, a := range v.Outputs {
		switch {
		case a.Saved && !saved:
		case a.List:
			results = append(results, "Tensor[]")
		default:
			results = append(results, "Tensor")
		}
	}
	result := strings.Join(results, ", ")
	if len(results) != 1 {
		result = "(" + result + ")"
	}
	return "(" + strings.Join(args, ", ") + ") -> " + result
}

// stableInto is the schema of the form that writes to given tensors.
func (v *handlerOp) stableInto() string {
	args := v.stableArguments(true)
	for i, a := range v.Returned() {
		kind := fmt.Sprintf("Tensor(o%d!)", i)
		if a.PresentIf != "" {
			kind += "?"
		}
		args = append(args, kind+" "+a.Name)
	}
	return "(" + strings.Join(args, ", ") + ") -> ()"
}

// stableNumbers is the schema of the form that has numbers in the place of all inputs that may be some.
func (v *handlerOp) stableNumbers() string {
	args := v.stableArguments(len(v.Mutated()) > 0)
	for i := range v.Inputs {
		if in := &v.Inputs[i]; v.TakesNumber(in) {
			args[i] = strings.Replace(args[i], "Tensor", v.NumberType(in), 1)
		}
	}
	return v.stableSignature(args, false)
}

// stableArguments are the arguments in a schema. In one that writes to arrays, none is called mode: torch.compile passes the arguments of
// such an op by name, to functions of its own that have an argument of this name.
func (v *handlerOp) stableArguments(writes bool) (args []string) {
	name := func(name string) string {
		if writes && name == "mode" {
			return "mode_"
		}
		return name
	}
	for i, a := range v.Inputs {
		kind := "Tensor"
		if a.Mutated {
			kind += fmt.Sprintf("(a%d!)", i)
		}
		switch {
		case a.List:
			kind += "[]"
		case a.Optional:
			kind += "?"
		}
		args = append(args, kind+" "+name(a.Name))
	}
	for i := range v.Attrs {
		a := &v.Attrs[i]
		kind := a.Type
		if a.Binds != "" {
			kind = "ScalarType"
		}
		if stableOptional(a) {
			kind += "?"
		}
		args = append(args, kind+" "+name(a.Name))
	}
	return args
}

// stableOptional says whether None may stand for an attribute.
func stableOptional(a *opdef.Attr) bool { return a.MayBeNone() || a.Binds != "" && a.HasDefault }

// hasSaved says whether there is an output that only the gradient needs.
func (v *handlerOp) hasSaved() bool {
	return slices.ContainsFunc(v.Outputs, func(a opdef.Arg) bool { return a.Saved })
}

// StableInputs initialises the inputs: optional, mutated, strides, number of the list, kind of a number in its place, alignment.
func (v *handlerOp) StableInputs() (rows []string) {
	strides := map[string]string{"": "kDense", "last": "kLast", "any": "kAny"}
	for _, a := range v.Inputs {
		number := "-1"
		if v.TakesNumber(&a) {
			number = "Attr::" + attrKinds[v.NumberType(&a)]
		}
		if n := v.Alignment(&a); n > 1 {
			number += fmt.Sprint(", ", n)
		}
		rows = append(rows, fmt.Sprintf("{%t, %t, Stride::%s, %d, %s}", a.Optional, a.Mutated, strides[a.Stride], slices.Index(v.Lists(), a.Name), number))
	}
	return rows
}

// StableAttrs initialises the attributes: kind, optional, and of a dtype the output that has it and what it is if it is left
// out.
func (v *handlerOp) StableAttrs() (rows []string) {
	for i := range v.Attrs {
		a := &v.Attrs[i]
		if a.Binds == "" {
			rows = append(rows, fmt.Sprintf("{Attr::%s, %t}", v.HandlerKind(a), stableOptional(a)))
			continue
		}
		carrier := rule.Carrier(v.Op, a.Binds)
		at := slices.IndexFunc(v.Outputs, func(out opdef.Arg) bool { return carrier != nil && out.Name == carrier.Name })
		like, fixed := -1, "{}"
		name, _ := a.Default.(string)
		if of := v.InputIndex(v.Program.DTypeOf[name]); of >= 0 {
			like = of
		} else if d, ok := dtype.Lookup(name); ok {
			fixed = fmt.Sprintf("{%d, %d, 1}", d.Code, d.Bits)
		}
		rows = append(rows, fmt.Sprintf("{Attr::kDType, %t, %d, %d, %s}", stableOptional(a), at, like, fixed))
	}
	return rows
}
