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
// results written to given tensors. index is the number of the op.
func (v *handlerOp) StableEntries(index int) []string {
	row := func(form string, has bool, signature string) string {
		if !has {
			return "{nullptr, nullptr}"
		}
		return fmt.Sprintf("{%q, Kernel<%d, Form::%s>}", signature, index, form)
	}
	return []string{
		row("kPlain", true, v.stableSignature(false)),
		row("kTrain", v.hasSaved(), v.stableSignature(true)),
		row("kInto", v.TakesOut(), v.stableInto()),
	}
}

// stableSignature is the schema in PyTorch's registry without its name, of the form that also returns what only the gradient
// needs or of the other. It has no defaults: PyTorch would strip arguments that equal them.
func (v *handlerOp) stableSignature(saved bool) string {
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
	return "(" + strings.Join(v.stableArguments(), ", ") + ") -> " + result
}

// stableInto is the schema of the form that writes to given tensors.
func (v *handlerOp) stableInto() string {
	args := v.stableArguments()
	for i, a := range v.Returned() {
		kind := fmt.Sprintf("Tensor(o%d!)", i)
		if a.PresentIf != "" {
			kind += "?"
		}
		args = append(args, kind+" "+a.Name)
	}
	return "(" + strings.Join(args, ", ") + ") -> ()"
}

// stableArguments are the arguments in a schema.
func (v *handlerOp) stableArguments() (args []string) {
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
		args = append(args, kind+" "+a.Name)
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
		args = append(args, kind+" "+a.Name)
	}
	return args
}

// stableOptional says whether None may stand for an attribute.
func stableOptional(a *opdef.Attr) bool { return a.MayBeNone() || a.Binds != "" && a.HasDefault }

// hasSaved says whether there is an output that only the gradient needs.
func (v *handlerOp) hasSaved() bool {
	return slices.ContainsFunc(v.Outputs, func(a opdef.Arg) bool { return a.Saved })
}

// StableInputs initialises the inputs: optional, mutated, strides, number of the list.
func (v *handlerOp) StableInputs() (rows []string) {
	strides := map[string]string{"": "kDense", "last": "kLast", "any": "kAny"}
	for _, a := range v.Inputs {
		rows = append(rows, fmt.Sprintf("{%t, %t, Stride::%s, %d}", a.Optional, a.Mutated, strides[a.Stride], slices.Index(v.Lists(), a.Name)))
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
