package python

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// docWidth is the length of a docstring's line without its indentation.
const docWidth = layout.LineLength - 4

// Doc is the function's docstring in NumPy style, without quotes and indentation. It is the same for every framework but
// for the type of the arrays.
func (v *function) Doc() []string {
	d := &view.Docstring{Width: docWidth}
	d.Paragraph("", v.Op.Doc)
	if v.Deprecated != "" {
		d.Lines = append(d.Lines, "")
		d.Paragraph("", "Deprecated: "+v.Deprecated+".")
	}
	d.Section("Parameters")
	for _, p := range v.Parameters() {
		if a := p.Attr; a != nil {
			d.Item(a.Name+" : "+attrText(a), a.Doc, rangeText(a))
			continue
		}
		a := p.Input
		kind := v.arrayText(a)
		if v.TakesNumber(a) {
			kind += " or " + v.NumberType(a)
		}
		if a.Optional {
			kind += ", optional"
		}
		d.Item(a.Name+" : "+kind, a.Doc, a.RangeText(), a.Convention(), v.shapeText(a), v.memoryText(a))
	}
	if v.HasOut() {
		d.Item("out : "+v.outText()+", optional", "Where to write: contiguous, never resized, apart from the inputs.")
	}
	d.Section("Returns")
	for _, a := range v.Op.Results() {
		v.returned(d, &a)
	}
	v.errors(d)
	v.notes(d)
	return d.Lines
}

// outText is the type of the out argument.
func (v *function) outText() string {
	results := v.Op.Results()
	if len(results) == 1 {
		return v.FW.Python.Array
	}
	text := fmt.Sprintf("tuple of %d %s", len(results), v.FW.Python.Array)
	if slices.ContainsFunc(results, func(a opdef.Arg) bool { return a.PresentIf != "" }) {
		text += " or None"
	}
	return text
}

// absence says when a call has no such result.
func (v *function) absence(a *opdef.Arg) string {
	if v.Switch(a) != nil {
		return "None unless " + a.PresentIf + " is true."
	}
	return "None where " + a.PresentIf + " is."
}

// returned appends a result: an output, or an input that the op overwrites.
func (v *function) returned(d *view.Docstring, a *opdef.Arg) {
	switch {
	case a.PresentIf != "":
		d.Item(a.Name+" : "+v.FW.Python.Array+" or None", a.Doc, a.Convention(), v.shapeText(a), v.absence(a))
	case a.Mutated:
		kind, text := v.arrayText(a), "The new values of the "+plural(a, "argument", "arguments")+"."
		if v.FW.Python.Out {
			text = "The " + plural(a, "argument itself", "arguments themselves") + ", overwritten."
		}
		if a.Optional {
			kind, text = kind+" or None", text+" None where it is left out."
		}
		d.Item(a.Name+" : "+kind, text)
	case a.Valid != "":
		d.Item(a.Name+" : "+v.FW.Python.Array, a.Doc, a.Convention(), v.shapeText(a), "Rows from number "+a.Valid+" on are undefined.")
	default:
		d.Item(a.Name+" : "+v.arrayText(a), a.Doc, a.Convention(), v.shapeText(a))
	}
}

// arrayText is the type of an argument: an array, or a list of them.
func (v *function) arrayText(a *opdef.Arg) string {
	switch {
	case a.Per != "" || a.List && a.Mutated:
		return "list of " + v.FW.Python.Array + ", as many as " + cmp.Or(a.Per, "given")
	case a.List:
		return "sequence of " + v.FW.Python.Array
	}
	return v.FW.Python.Array
}

// plural chooses a word for an array, or for a list of them.
func plural(a *opdef.Arg, one, many string) string {
	if a.List {
		return many
	}
	return one
}

// shapeText says shape and dtypes: "“T[*, N]“, T is float32 or float16".
func (v *function) shapeText(a *opdef.Arg) string {
	each := ""
	if a.List {
		each = " each"
	}
	for _, d := range v.DTypes {
		if d.Name == a.Type.Var {
			return fmt.Sprintf("``%s``%s, %s is %s.", a.Type.Text, each, d.Name, rule.Or(rule.Long(d.OneOf)))
		}
	}
	return fmt.Sprintf("``%s``%s, %s.", a.Type.Text, each, rule.Long([]string{a.Type.DType})[0])
}

// memoryText says what happens to the memory of an input: it is overwritten, or copied where the kernels cannot read it.
func (v *function) memoryText(a *opdef.Arg) string {
	where := map[string]string{"": "contiguous, ", "last": "contiguous in its last dimension, "}[a.Stride]
	var reasons []string
	if where != "" && len(a.Type.Dims) > 0 { // of one element, and of any strides, each lies as it may
		reasons = append(reasons, map[string]string{"": "it", "last": "its last dimension"}[a.Stride]+" is not contiguous")
	}
	if n := v.Alignment(a); n > 1 {
		reasons = append(reasons, fmt.Sprintf("its address is no multiple of %d", n))
	}
	switch {
	case a.Mutated && v.FW.Python.Out:
		return "Overwritten: " + where + "apart from the other arguments."
	case a.Mutated:
		return "Overwritten: the result is a new array, in the same memory if the argument is donated."
	case len(reasons) == 0:
		return ""
	}
	return "Copied if " + strings.Join(reasons, " or ") + "."
}

func attrText(a *opdef.Attr) string {
	text := a.Type
	switch {
	case len(a.OneOf) > 0:
		text = "{" + rule.Quoted(a.OneOf) + "}"
	case len(a.Among) > 0:
		text = "{" + strings.Join(a.Decimals(), ", ") + "}"
	case a.Len > 0:
		text = fmt.Sprintf("int or %d ints", a.Len)
	case a.Len < 0:
		text = "sequence of ints"
	}
	if a.HasDefault {
		text += ", default " + DefaultText(a)
	}
	return text
}

func rangeText(a *opdef.Attr) string {
	switch {
	case a.Min != nil && a.Max != nil:
		return fmt.Sprintf("From %s to %s.", rule.Number(a.Min), rule.Number(a.Max))
	case a.Min != nil:
		return "At least " + rule.Number(a.Min) + "."
	case a.Max != nil:
		return "At most " + rule.Number(a.Max) + "."
	}
	return ""
}

func (v *function) errors(d *view.Docstring) {
	d.Section("Raises")
	d.Item("TypeError", "An argument is missing, is no array, or has a type or dtype that is not listed above.")
	d.Item("ValueError", "Shapes, devices or memory do not fit together, or an attribute is out of range."+v.indices())
	d.Item("NotImplementedError", "There is no kernel for the device and dtypes"+v.noDerivative()+".")
}

// indices says which contents a call on a CPU checks.
func (v *function) indices() string {
	var names []string
	for i := range v.Inputs {
		if v.HasIndices(&v.Inputs[i]) {
			names = append(names, v.Inputs[i].Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " On a CPU, also if contents of " + rule.Or(names) + " are."
}

// noDerivative says which derivatives raise an error.
func (v *function) noDerivative() string {
	second := v.Gradient != nil && v.Gradient.Gradient != nil
	switch {
	case v.Gradient == nil && v.Tangent == nil:
		return ", or no gradient where one is wanted"
	case v.Gradient == nil:
		return ", or a derivative in reverse mode is wanted"
	case !second && v.Tangent == nil:
		return ", or a derivative in forward mode or of second order is wanted"
	case v.Tangent == nil:
		return ", or a derivative in forward mode is wanted"
	case !second:
		return ", or a derivative of second order is wanted"
	}
	return ""
}

func (v *function) notes(d *view.Docstring) {
	d.Section("Notes")
	if v.Reference == "" {
		folder := v.File[:strings.LastIndex(v.File, "/")+1]
		d.Paragraph("", fmt.Sprintf("The definition is %s, the reference %s%s.py.", v.File, folder, v.Name))
		return
	}
	d.Paragraph("", fmt.Sprintf("The definition is %s. Up to rounding, the op computes, with xp = numpy::", v.File))
	d.Add("")
	for _, line := range strings.Split(strings.TrimSpace(v.Reference), "\n") {
		d.Add(strings.TrimRight("    "+line, " \t"))
	}
}
