package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/python/stub"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// function is an op as its Python function shows it.
type function struct {
	*view.Compiled
	FW framework.Framework
}

// PyHash is the schema hash as ruff format writes it.
func (v *function) PyHash() string { return fmt.Sprintf("0x%016X", v.Hash()) }

// Required counts the parameters that a call must give by their place, or by name.
func (v *function) Required() int {
	n := 0
	for _, p := range v.Parameters() {
		if p.Positional && p.Needed {
			n++
		}
	}
	return n
}

// Def is the head of the function.
func (v *function) Def() string {
	hint := v.FW.Python.Hint
	return layout.Bracketed("", "def "+v.Name+"(", v.parameters(hint, hint, " = _rt.REQUIRED", "Any"), ") -> "+v.result(hint)+":")
}

// Stub is the function's true signature for type checkers.
func (v *function) Stub() string {
	array, result := v.FW.Stub.Array, v.FW.Stub.Result
	return layout.Bracketed("", "def "+v.Name+"(", v.parameters(array, result, "", v.FW.Stub.DType), ") -> "+v.result(result)+": ...")
}

func (v *function) parameters(array, result, required, dtype string) []string {
	var out []string
	named := false
	for _, p := range v.Parameters() {
		if !p.Positional && !named {
			named = true
			out = append(out, "*")
		}
		hint, otherwise := "", ""
		if a := p.Input; a != nil {
			hint, otherwise = v.arrayHint(stub.Array(array, v.Op, a), a)
		} else {
			hint, otherwise = attrHint(p.Attr, dtype)
			if literal := stub.Literal(p.Attr); required == "" && literal != "" { // in the module, Literal is not imported
				hint = strings.Replace(hint, p.Attr.Type, literal, 1)
			}
		}
		switch {
		case p.Needed && required == "":
			otherwise = ""
		case p.Needed && p.Positional && otherwise == "": // Python wants a default behind others
			otherwise = required
		}
		out = append(out, p.Name()+": "+hint+otherwise)
	}
	if v.HasOut() && !named {
		out = append(out, "*")
	}
	if v.HasOut() {
		const none = "| None = None"
		hint := "out: " + strings.TrimSuffix(v.result(result), " | None")
		if len(layout.Step+hint+" "+none+",") <= layout.LineLength {
			out = append(out, hint+" "+none)
		} else {
			out = append(out, hint+"\n"+layout.Step+none)
		}
	}
	return out
}

// when is the condition under which a call has an output that it may lack.
func (v *function) when(out *opdef.Arg) string {
	if v.Switch(out) != nil {
		return out.PresentIf
	}
	return out.PresentIf + " is not None"
}

// HasOut says whether the function takes arrays for its results.
func (v *function) HasOut() bool { return v.FW.Python.Out && v.TakesOut() }

// result is the annotation of what the function returns.
func (v *function) result(hint string) string {
	var types []string
	for _, a := range v.Op.Results() {
		hint := stub.Array(hint, v.Op, &a)
		switch {
		case a.PresentIf != "" || a.Optional:
			types = append(types, hint+" | None")
		case a.List:
			types = append(types, "list["+hint+"]")
		default:
			types = append(types, hint)
		}
	}
	switch len(types) {
	case 0:
		return "None"
	case 1:
		return types[0]
	}
	return "tuple[" + strings.Join(types, ", ") + "]"
}

// Imports are the lines that bring in what the annotations name, with an empty line between groups.
func (v *function) Imports() []string {
	var out []string
	if v.HasLists() || slices.ContainsFunc(v.Attrs, func(a opdef.Attr) bool { return a.Len != 0 }) {
		out = append(out, "from collections.abc import Sequence")
	}
	if slices.ContainsFunc(v.Attrs, func(a opdef.Attr) bool { return a.Type == "dtype" }) {
		out = append(out, "from typing import Any")
	}
	if len(out) > 0 {
		out = append(out, "")
	}
	return append(out, v.FW.Python.Import)
}

// Docstring is the function's docstring, indented, with its quotes.
func (v *function) Docstring() string {
	text := strings.Join(v.Doc(), "\n    ")
	return strings.ReplaceAll(`    """`+text+"\n    \"\"\"", "\n    \n", "\n\n")
}

// General is the statement that makes the general call; more arguments follow the inputs and the attrs.
func (v *function) General(more ...string) string {
	if v.HasOut() {
		more = append(more, "out")
	}
	return layout.List("return _op.call(", append(v.tuples(), layout.Leaves(more)...), ")").Print(layout.Step, "")
}

// tuples are the tuple of all inputs and that of all attrs.
func (v *function) tuples() []layout.Node {
	return []layout.Node{layout.TupleNode("", layout.Leaves(v.inputNames())), layout.TupleNode("", layout.Leaves(v.attrNames(allAttrs, "")))}
}

func (v *function) inputNames() []string { return opdef.ArgNames(v.Inputs) }

func (v *function) attrNames(keep func(*opdef.Attr) bool, suffix string) []string {
	var out []string
	for i := range v.Attrs {
		if keep(&v.Attrs[i]) {
			out = append(out, v.Attrs[i].Name+suffix)
		}
	}
	return out
}

func allAttrs(*opdef.Attr) bool { return true }

// each formats a condition for every input; an absent optional one meets it.
func (v *function) each(format string) []layout.Boolean {
	var out []layout.Boolean
	for _, a := range v.Inputs {
		condition := layout.Test(fmt.Sprintf(format, a.Name))
		if a.Optional {
			condition = layout.AnyOf([]layout.Boolean{layout.Test(a.Name + " is None"), condition})
		}
		out = append(out, condition)
	}
	return out
}

// takesNumber is the condition that an input is an array, or the number that may be in its place, of a fast path.
func (v *function) takesNumber(a *opdef.Arg) layout.Boolean {
	return layout.Test(fmt.Sprintf("type(%s) in _rt.%s", a.Name, strings.ToUpper(v.NumberType(a))))
}

// arrayHint is the annotation of an input, whose elements have one, and its default.
func (v *function) arrayHint(hint string, a *opdef.Arg) (annotation, otherwise string) {
	if v.TakesNumber(a) {
		hint += " | " + v.NumberType(a)
	}
	switch {
	case a.Optional:
		return hint + " | None", " = None"
	case a.List:
		return "Sequence[" + hint + "]", ""
	}
	return hint, ""
}

// attrHint is the annotation of an attribute, and its default.
func attrHint(a *opdef.Attr, dtypeHint string) (annotation, otherwise string) {
	hint := a.Type
	switch {
	case a.Type == "dtype":
		hint = dtypeHint
		if a.HasDefault && dtypeHint != "Any" {
			hint += " | None"
		}
	case a.Len != 0:
		hint = "Sequence[int]"
		if a.Len > 0 {
			hint = "int | Sequence[int]"
		}
	}
	if a.MayBeNone() {
		hint += " | None"
	}
	if !a.HasDefault {
		return hint, ""
	}
	return hint, " = " + defaultValue(a)
}
