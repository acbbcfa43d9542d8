package opdef

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef/code"
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/opdef/tomldoc"
)

// gradPrefix makes the name of a gradient from that of an argument.
const gradPrefix = "grad_"

// GradName is the name of an argument's gradient in a gradient op.
func GradName(arg string) string { return gradPrefix + arg }

// linkGradients points every op at its gradient op and back, and holds the two against each other.
func linkGradients(p *Project, diags *diag.List) {
	for _, op := range p.Ops {
		if op.Backward == "" {
			continue
		}
		pos := op.Pos["backward"]
		if len(op.Mutated()) > 0 {
			diags.Add(pos, code.Mutated, "make the op functional", "an op that overwrites inputs cannot have a gradient")
		}
		i := slices.IndexFunc(p.Ops, func(o *Op) bool { return o.Name == op.Backward })
		if i < 0 {
			diags.Add(pos, code.Backward, diag.DidYouMean(op.Backward, opNames(p), "define it in opdefs/"), "there is no op %q", op.Backward)
			continue
		}
		backward := p.Ops[i]
		if mistake, hint := linkMistake(op, backward); mistake != "" {
			diags.Add(pos, code.GradLink, hint, "%s %s", backward.Name, mistake)
			continue
		}
		op.Gradient, backward.GradientOf = backward, op
		g := gradientCheck{op: op, backward: backward, diags: diags, said: map[string]bool{}}
		g.inputs()
		g.outputs()
		g.attrs()
	}
}

func opNames(p *Project) []string {
	names := make([]string, len(p.Ops))
	for i, o := range p.Ops {
		names[i] = o.Name
	}
	return names
}

// linkMistake says why backward cannot be the gradient of op, or "".
func linkMistake(op, backward *Op) (mistake, hint string) {
	switch {
	case backward.Backward != "":
		return "has a gradient itself", "gradients are of first order: leave its backward out"
	case len(backward.Mutated()) > 0:
		return "overwrites inputs, which a gradient cannot", "make it functional"
	case backward.GradientOf != nil:
		return "is the gradient of " + backward.GradientOf.Name + " already", "define one for " + op.Name
	}
	return "", ""
}

// gradientCheck holds a gradient op against its forward op: it draws its inputs from grad_OUTPUT, the inputs, the outputs
// and the attributes there, and gives grad_INPUT. An argument has the type of what it is, or of what it is the gradient of.
type gradientCheck struct {
	op, backward *Op
	diags        *diag.List
	// said are the dtype variables that were reported.
	said map[string]bool
}

func (g *gradientCheck) inputs() {
	known := map[string]Arg{}
	for _, in := range g.op.Inputs {
		known[in.Name] = in
	}
	for _, out := range g.op.Outputs {
		if _, taken := known[GradName(out.Name)]; !out.Saved && !taken {
			grad := out
			grad.Name, grad.Optional = GradName(out.Name), out.PresentIf != ""
			known[grad.Name] = grad
		}
		out.Optional = out.PresentIf != ""
		known[out.Name] = out
	}
	for i, in := range g.backward.Inputs {
		path := tomldoc.Element("inputs", i)
		forward, ok := known[in.Name]
		if !ok {
			hint := diag.DidYouMean(in.Name, keys(known), "inputs are grad_OUTPUT, or inputs and outputs of "+g.op.Name)
			g.report(tomldoc.Join(path, "name"), code.Gradient, hint, "%s gives no %s to its gradient", g.op.Name, in.Name)
			continue
		}
		g.sameType(tomldoc.Join(path, "type"), in, forward)
		switch {
		case forward.Optional && !in.Optional:
			g.report(path, code.GradType, "add optional = true", "%s may be absent in %s", in.Name, g.op.Name)
		case in.Optional && !forward.Optional:
			g.report(path, code.GradType, "leave optional out", "%s is never absent in %s", in.Name, g.op.Name)
		}
	}
}

func (g *gradientCheck) outputs() {
	known := map[string]Arg{}
	for _, in := range g.op.Inputs {
		known[GradName(in.Name)] = in
	}
	for i, out := range g.backward.Outputs {
		path := tomldoc.Element("outputs", i)
		forward, ok := known[out.Name]
		if !ok {
			hint := diag.DidYouMean(out.Name, keys(known), "outputs are grad_INPUT")
			g.report(tomldoc.Join(path, "name"), code.Gradient, hint, "%s is the gradient of no input of %s", out.Name, g.op.Name)
			continue
		}
		g.sameType(tomldoc.Join(path, "type"), out, forward)
		switch {
		case forward.Optional && out.PresentIf != forward.Name:
			hint := fmt.Sprintf("add present_if = %q", forward.Name)
			g.report(path, code.GradType, hint, "%s exists exactly when %s does", out.Name, forward.Name)
		case !forward.Optional && out.PresentIf != "":
			g.report(path, code.GradType, "leave present_if out", "%s always exists, as %s does", out.Name, forward.Name)
		}
		if !differentiable(g.op, forward) {
			g.report(tomldoc.Join(path, "type"), code.GradType, "leave it out", "%s is not of floating point: it has no gradient", forward.Name)
		}
	}
}

// sameType reports an argument whose type differs from that of the forward op's argument in dims or dtypes.
func (g *gradientCheck) sameType(path string, arg, forward Arg) {
	same := func(a, b Arg) bool {
		return slices.Equal(a.squeezed(), b.squeezed()) && a.Type.Var == b.Type.Var && a.Type.DType == b.Type.DType
	}
	if !same(arg, forward) {
		g.report(path, code.GradType, fmt.Sprintf("write %q", forward.Type.Text), "%s is %s, in %s it is %s", arg.Name, arg.Type.Text, g.op.Name, forward.Type.Text)
		return
	}
	have, variable := g.backward.allowed(arg), arg.Type.Var
	for _, name := range g.op.allowed(forward) {
		if !slices.Contains(have, name) && !g.said[variable] {
			g.said[variable] = true
			g.report(tomldoc.Join("dtypes", variable), code.GradType, "let a gradient take all dtypes of its forward op",
				"%s of %s may be %s, here it may not", variable, g.op.Name, name)
		}
	}
}

// squeezed are the dims without spaces.
func (a Arg) squeezed() []string {
	dims := a.Dims()
	for i := range dims {
		dims[i] = strings.Join(strings.Fields(dims[i]), "")
	}
	return dims
}

// allowed are the short names of the dtypes that an argument may have.
func (o *Op) allowed(a Arg) []string {
	for _, v := range o.DTypes {
		if v.Name == a.Type.Var {
			return v.OneOf
		}
	}
	return []string{a.Type.DType}
}

// differentiable says whether an argument is of floating point: integers and bools have no gradient.
func differentiable(op *Op, a Arg) bool {
	for _, name := range op.allowed(a) {
		if row, ok := dtype.Lookup(name); ok && !row.Inexact() {
			return false
		}
	}
	return true
}

func (g *gradientCheck) attrs() {
	for i, attr := range g.backward.Attrs {
		path := tomldoc.Join(tomldoc.Element("attrs", i), "name")
		j := slices.IndexFunc(g.op.Attrs, func(a Attr) bool { return a.Name == attr.Name && a.Type == attr.Type })
		if j < 0 {
			g.report(path, code.Gradient, "a gradient has only attributes of its forward op",
				"%s has no %s attribute %s", g.op.Name, attr.Type, attr.Name)
			continue
		}
		if key := attrDifference(attr, g.op.Attrs[j]); key != "" {
			g.report(path, code.Gradient, "declare it as "+g.op.Name+" does", "%s has another %s in %s", attr.Name, key, g.op.Name)
		}
	}
}

// attrDifference names the key in which two attributes differ, or "".
func attrDifference(a, b Attr) string {
	text := func(e *expr.Expr) string {
		if e == nil {
			return ""
		}
		return e.Text
	}
	switch {
	case a.HasDefault != b.HasDefault || !reflect.DeepEqual(a.Default, b.Default) || text(a.DefaultExpr) != text(b.DefaultExpr):
		return "default"
	case a.Min != b.Min:
		return "min"
	case a.Max != b.Max:
		return "max"
	case !slices.Equal(a.OneOf, b.OneOf):
		return "one_of"
	}
	return ""
}

// report adds a diagnostic at a path of the gradient op.
func (g *gradientCheck) report(path, code, hint, format string, args ...any) {
	pos := diag.Pos{File: g.backward.File, Line: 1, Col: 1}
	for p := path; p != ""; p = tomldoc.Parent(p) {
		if at, ok := g.backward.Pos[p]; ok {
			pos = at
			break
		}
	}
	g.diags.Add(pos, code, hint, format, args...)
}
