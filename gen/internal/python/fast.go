package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// The fast path of a generated function allocates the outputs and calls the kernel, which checks everything. What goes
// wrong before or there is left to the general call. So the shapes here are computed without any check.

// fastDepth is the indentation of the fast path.
const fastDepth = 12

// fastShapes prints the lines that the shapes of what is allocated need: the shapes of inputs as _x_shape, lists of attrs
// as _pad_ints, leading dims that are broadcast as _lead, then the named sizes as P_.
func (v *function) fastShapes(allocated []opdef.Arg) []string {
	var used []string
	for _, a := range allocated {
		if v.twin(&a) == "" {
			used = append(used, commaSeparated(v.fastItems(a.Type)).reads...)
		}
	}
	var lets []string
	for i := len(v.Lets) - 1; i >= 0; i-- { // a let may use earlier ones
		if l := v.Lets[i]; slices.Contains(used, l.Name+"_") {
			more := v.fastLet(l)
			lets = append(lines(more), lets...)
			for _, s := range more {
				used = append(used, s.reads...)
			}
		}
	}
	var out []string
	for _, a := range v.Inputs {
		if slices.Contains(used, "_"+a.Name+"_shape") {
			out = append(out, fmt.Sprintf("_%s_shape = %s.shape", a.Name, a.Name))
		}
	}
	for _, a := range v.Attrs {
		if name := fastInts(a.Name); slices.Contains(used, name) {
			out = append(out, fmt.Sprintf("%s = (%s,) * %d if isinstance(%s, int) else %s", name, a.Name, a.Len, a.Name, a.Name))
		}
	}
	if slices.ContainsFunc(allocated, func(a opdef.Arg) bool { return a.Type.Lead() == opdef.Broadcast }) {
		out = append(out, v.fastLead())
	}
	return append(out, lets...)
}

// fastLead broadcasts the leading dims of the inputs.
func (v *function) fastLead() string {
	var shapes []string
	for _, name := range v.Program.Broadcast {
		shape := name + ".shape"
		if n := v.trailing(name); n > 0 {
			shape += fmt.Sprintf("[:-%d]", n)
		}
		if v.Inputs[v.InputIndex(name)].Optional {
			shape = fmt.Sprintf("() if %s is None else %s", name, shape)
		}
		shapes = append(shapes, shape)
	}
	return layout.Bracketed(strings.Repeat(" ", fastDepth), "_lead = _rt.backend.leading(", shapes, ")")[fastDepth:]
}

// fastLet computes a named size.
func (v *function) fastLet(l opdef.Let) []statement {
	var out []statement
	name := func(symbol string) string { return v.fastSymbol(symbol).text }
	for _, part := range view.Split(v.fastPrinter(name), l.Name, l.Expr, layout.LineLength-fastDepth) {
		out = append(out, set(alone(v.fastExpr(part.Expr), part.Expr), v.fastSymbol(part.Name))...)
	}
	return out
}

// twin is the input that is given where the output exists and has its shape and dtype variable, or "".
func (v *function) twin(out *opdef.Arg) string {
	for _, a := range v.Inputs {
		same := out.Type.Var != "" && a.Type.Text == out.Type.Text && a.Type.Lead() != opdef.Broadcast
		if same && (!a.Optional || a.Name == out.PresentIf) {
			return a.Name
		}
	}
	return ""
}

// fastShape prints the shape of an output as a tuple.
func (v *function) fastShape(t opdef.Type) string { return tupleOf(v.fastItems(t)).text }

// fastItems prints what the tuple holds.
func (v *function) fastItems(t opdef.Type) []code {
	var dims []code
	keep := 0 // trailing dims of the input that binds the leading ones which are not part of them
	batch := ""
	for _, d := range t.Dims {
		if d.Ellipsis {
			dims = append(dims, code{text: "*_lead"})
			continue
		}
		if d.Star {
			batch, keep = v.Program.BatchOf, v.trailing(v.Program.BatchOf)
			continue
		}
		dim := v.fastExpr(d.Expr)
		if d.Expr.Op == expr.OpSymbol && strings.HasPrefix(dim.text, "(") {
			dim.text = dim.text[1 : len(dim.text)-1] // one symbol needs no parentheses
		}
		if len(dims) == 0 && keep > 0 && dim.text == fmt.Sprintf("_%s_shape[-%d]", batch, keep) {
			keep-- // the next dim of the same input
			continue
		}
		dims = append(dims, dim)
	}
	switch {
	case batch == "":
	case keep == 0:
		dims = append([]code{codef("*%s", fastShapeOf(batch))}, dims...)
	default:
		dims = append([]code{codef("*%s[:-%d]", fastShapeOf(batch), keep)}, dims...)
	}
	return dims
}

func (v *function) trailing(input string) int {
	_, fixed := rule.Trailing(v.Inputs[v.InputIndex(input)].Type)
	return fixed
}

// fastExpr prints an expression over the shapes of the inputs.
func (v *function) fastExpr(e *expr.Expr) (c code) {
	c.text = v.fastPrinter(noting(&c, v.fastSymbol)).Print(e)
	return c
}

func (v *function) fastSymbol(name string) code {
	var binds []rule.Rule
	for _, r := range v.Program.Rules {
		switch {
		case r.Symbol == name && r.Kind == rule.Let:
			return reading(name + "_")
		case r.Symbol == name && r.Kind == rule.SizeBind:
			binds = append(binds, r)
		}
	}
	if len(binds) > 0 {
		return v.chosen(binds)
	}
	if slices.ContainsFunc(v.Attrs, func(a opdef.Attr) bool { return a.Name == name && a.Len > 0 }) {
		return reading(fastInts(name))
	}
	return reading(name) // another attr, or a part of a let
}

func fastInts(attr string) string { return "_" + attr + "_ints" }

// fastShapeOf is the variable that holds the shape of an input.
func fastShapeOf(input string) code { return reading("_" + input + "_shape") }

// chosen is a size that one of the rules binds: the one whose condition on attributes holds.
func (v *function) chosen(binds []rule.Rule) code {
	if len(binds) == 1 {
		return v.solved(binds[0])
	}
	return codef("(%s if %s else %s)", v.solved(binds[0]), v.fastExpr(binds[0].When), v.chosen(binds[1:]))
}

// solved is the x with coef * x + const == size.
func (v *function) solved(r rule.Rule) code {
	c := codef("%s[%d]", fastShapeOf(r.Arg), r.Dim)
	if r.Form == r.Symbol {
		return c
	}
	p := v.fastPrinter(noting(&c, v.fastSymbol))
	if r.Const.Op != expr.OpConst || r.Const.Value != 0 {
		c.text = fmt.Sprintf("(%s - %s)", c.text, p.Operand(r.Const))
	}
	if r.Coef.Op != expr.OpConst || r.Coef.Value != 1 {
		c.text = fmt.Sprintf("(%s // %s)", c.text, p.Operand(r.Coef))
	}
	return c
}

func (v *function) fastPrinter(name func(string) string) view.Printer {
	p := fastPrinter(name)
	p.Word = wordOf(v.Compiled)
	return p
}

func fastPrinter(name func(string) string) view.Printer {
	p := exprPrinter(name)
	for _, op := range []expr.Op{expr.OpFloorDiv, expr.OpMod} {
		delete(p.Call, op)
		p.Infix[op] = string(op)
	}
	p.Call[expr.OpCeilDiv] = "-(-(%s) // (%s))"
	p.Call[expr.OpPow] = "(%s) ** min(%s, 64)" // a larger one fits nowhere, and would take long
	p.Sum, p.Fit = "sum(%s)", ""
	return p
}

// fastDType prints the dtype of an output as the framework's object.
func (v *function) fastDType(t opdef.Type) string {
	if t.Var == "" {
		return layout.Quote(rule.Long([]string{t.DType})[0])
	}
	for i := range v.Attrs {
		a := &v.Attrs[i]
		if a.Binds != t.Var {
			continue
		}
		if !a.HasDefault {
			return a.Name
		}
		name, _ := a.Default.(string)
		value := layout.Quote(rule.Long([]string{name})[0])
		if from := v.Program.DTypeOf[name]; from != "" {
			value = from + ".dtype"
		}
		return fmt.Sprintf("%s if %s is None else %s", value, a.Name, a.Name)
	}
	return v.Program.DTypeOf[t.Var] + ".dtype"
}

// kernelCall calls the kernel.
func (v *function) kernelCall() string {
	return layout.Bracketed(strings.Repeat(" ", fastDepth), "_kernel(", v.kernelArgs(), ")")[fastDepth:]
}

// kernelArgs are the arguments of the export: outputs, inputs, attrs, scratch. Nobody wants a gradient, so none is saved
// for it.
func (v *function) kernelArgs() []string {
	var args []string
	for _, a := range v.Outputs {
		if a.Saved {
			args = append(args, "None")
		} else {
			args = append(args, a.Name)
		}
	}
	args = append(args, v.inputNames()...)
	args = append(args, v.attrNames(func(a *opdef.Attr) bool { return a.Binds == "" }, "")...)
	return append(args, opdef.ArgNames(v.Scratch)...)
}

// Results is the statement that returns the results from the fast path.
func (v *function) Results() string { return v.resultsAt(fastDepth) }

func (v *function) resultsAt(depth int) string {
	results := opdef.ArgNames(v.Op.Results())
	if len(results) == 0 {
		results = []string{"None"}
	}
	return layout.Returns(strings.Repeat(" ", depth), results)
}
