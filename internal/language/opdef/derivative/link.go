package derivative

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// Link points every op at the ops of its derivatives and back, then holds them against each other.
func Link(p *opdef.Project, diags *diag.List) {
	for _, op := range p.Ops {
		if d := linked(p, op, "backward", op.Backward, diags); d != nil {
			op.Gradient, d.GradientOf = d, op
		}
		if d := linked(p, op, "forward", op.Forward, diags); d != nil {
			op.Tangent, d.TangentOf = d, op
		}
	}
	for _, op := range p.Ops {
		plain := plainOp(op)
		if op.Gradient != nil {
			addMistakes(op, op.Gradient, "backward", CheckGradient(plain), diags)
		}
		if op.Tangent != nil {
			addMistakes(op, op.Tangent, "forward", CheckTangent(plain), diags)
		}
		for i, name := range op.NoGrad {
			if mistake, hint := noGradMistake(plain, name); mistake != "" {
				diags.Add(op.Pos[fmt.Sprintf("no_grad[%d]", i)], code.NoGrad, hint, "%s", mistake)
			}
		}
	}
}

// Without lists the inputs by which an op has no derivative, though it has some, and which may be of floating point.
func Without(op *opdef.Op) []string {
	if op.Gradient == nil && op.Tangent == nil {
		return nil
	}
	return slices.DeleteFunc(Constant(plainOp(op)), func(name string) bool {
		return !slices.ContainsFunc(op.Allowed(op.Inputs[op.InputIndex(name)]), inexact)
	})
}

// noGradMistake says why no_grad cannot name an input, or "".
func noGradMistake(op *Op, name string) (mistake, hint string) {
	i := slices.IndexFunc(op.Inputs, func(a Arg) bool { return a.Name == name })
	switch {
	case i < 0:
		return fmt.Sprintf("no_grad: there is no input %q", name), "inputs of floating point are meant"
	case op.Gradient == nil && op.Tangent == nil:
		return "no_grad: the op has no derivative at all", "leave it out, or add backward"
	case !op.Inputs[i].Smooth:
		return "no_grad: " + name + " is not of floating point: it has no derivative", "leave it out"
	case !slices.Contains(Constant(op), name):
		return "no_grad: there is a derivative by " + name, "leave " + name + " out of one of the two"
	}
	return "", ""
}

// linked finds the op that a key of another one names; it is nil where there is none, or none that can be meant.
func linked(p *opdef.Project, op *opdef.Op, key, name string, diags *diag.List) *opdef.Op {
	if name == "" {
		return nil
	}
	pos := op.Pos[key]
	if len(op.Mutated()) > 0 {
		diags.Add(pos, code.Mutated, "make the op functional", "an op that overwrites inputs cannot have a derivative")
	}
	i := slices.IndexFunc(p.Ops, func(o *opdef.Op) bool { return o.Name == name })
	if i < 0 {
		diags.Add(pos, code.Backward, diag.DidYouMean(name, others(p, op), "define it in opdefs/"), "there is no op %q", name)
		return nil
	}
	derived := p.Ops[i]
	if mistake, hint := linkMistake(op, derived); mistake != "" {
		diags.Add(pos, code.GradLink, hint, "%s %s", derived.Name, mistake)
		return nil
	}
	return derived
}

// others are the names of all ops but one.
func others(p *opdef.Project, op *opdef.Op) (names []string) {
	for _, o := range p.Ops {
		if o != op {
			names = append(names, o.Name)
		}
	}
	return names
}

// linkMistake says why derived cannot compute derivatives of op, or "".
func linkMistake(op, derived *opdef.Op) (mistake, hint string) {
	for p := op; p != nil; p = p.DerivedFrom() {
		if p == derived {
			return "would be a derivative of itself", "define another op"
		}
	}
	switch {
	case len(derived.Mutated()) > 0:
		return "overwrites inputs, which a derivative cannot", "make it functional"
	case derived.GradientOf != nil:
		return "is the gradient of " + derived.GradientOf.Name + " already", "define one for " + op.Name
	case derived.TangentOf != nil:
		return "gives the tangents of " + derived.TangentOf.Name + " already", "define one for " + op.Name
	}
	return "", ""
}

// addMistakes reports what does not fit, at its place in the definition of the derivative or at the key that names it.
func addMistakes(op, derived *opdef.Op, key string, found []Mistake, diags *diag.List) {
	for _, m := range append(found, attrMistakes(op, derived)...) {
		pos := diag.Pos{File: derived.File, Line: 1, Col: 1}
		for path := m.Path; path != ""; path = tomldoc.Parent(path) {
			if at, ok := derived.Pos[path]; ok {
				pos = at
				break
			}
		}
		if m.Code == code.GradLink {
			pos = op.Pos[key]
		}
		diags.Add(pos, m.Code, m.Hint, "%s", m.Text)
	}
}

// plainOp is an op as package derivative sees it, with those that derive from it and from which it does.
func plainOp(op *opdef.Op) *Op {
	plain := func(o *opdef.Op) *Op {
		if o == nil {
			return nil
		}
		return &Op{
			Name: o.Name, Inputs: plainArgs(o, o.Inputs), Outputs: plainArgs(o, o.Outputs), GradPrefix: o.GradPrefix(), TangentPrefix: o.TangentPrefix(),
			NoGrad: o.NoGrad,
		}
	}
	out := plain(op)
	out.Gradient, out.Tangent, out.Of = plain(op.Gradient), plain(op.Tangent), plain(op.DerivedFrom())
	if of := op.DerivedFrom(); of != nil {
		out.Of.Gradient, out.Of.Tangent = plain(of.Gradient), plain(of.Tangent)
	}
	return out
}

func plainArgs(o *opdef.Op, args []opdef.Arg) []Arg {
	var out []Arg
	for _, a := range args {
		kind := []string{a.Type.Var + a.Type.DType}
		for _, dim := range a.Dims() {
			kind = append(kind, strings.Join(strings.Fields(dim), ""))
		}
		out = append(out, Arg{
			Name: a.Name, Text: a.Type.Text, Type: kind, DTypes: o.Allowed(a), Var: a.Type.Var, Smooth: smooth(o, a),
			Optional: a.Optional, Saved: a.Saved, PresentIf: a.PresentIf, LSE: a.Convention(), Broadcast: a.Type.Lead() == opdef.Broadcast,
		})
	}
	return out
}

// smooth says whether an argument is of floating point: integers and bools have no derivative.
func smooth(o *opdef.Op, a opdef.Arg) bool {
	return !slices.ContainsFunc(o.Allowed(a), func(name string) bool { return !inexact(name) })
}

func inexact(name string) bool {
	row, ok := dtype.Lookup(name)
	return !ok || row.Inexact()
}

// attrMistakes finds attributes of a derivative that its op does not have, or declares differently.
func attrMistakes(op, derived *opdef.Op) []Mistake {
	var out []Mistake
	for i, attr := range derived.Attrs {
		path := tomldoc.Join(tomldoc.Element("attrs", i), "name")
		add := func(hint, format string, args ...any) {
			out = append(out, Mistake{Path: path, Code: code.Gradient, Hint: hint, Text: fmt.Sprintf(format, args...)})
		}
		j := slices.IndexFunc(op.Attrs, func(a opdef.Attr) bool { return a.Name == attr.Name && a.Type == attr.Type })
		if j < 0 {
			add("a derivative has only attributes of its op", "%s has no %s attribute %s", op.Name, attr.Type, attr.Name)
		} else if key := attrDifference(attr, op.Attrs[j]); key != "" {
			add("declare it as "+op.Name+" does", "%s has another %s in %s", attr.Name, key, op.Name)
		}
	}
	return out
}

// attrDifference names the key in which two attributes differ, or "".
func attrDifference(a, b opdef.Attr) string {
	text := func(e *expr.Expr) string {
		if e == nil {
			return ""
		}
		return e.Text
	}
	switch {
	case a.HasDefault != b.HasDefault || a.Optional != b.Optional || !reflect.DeepEqual(a.Default, b.Default) || text(a.DefaultExpr) != text(b.DefaultExpr):
		return "default"
	case a.Min != b.Min:
		return "min"
	case a.Max != b.Max:
		return "max"
	case !slices.Equal(a.OneOf, b.OneOf) || !slices.Equal(a.Among, b.Among):
		return "one_of"
	}
	return ""
}
