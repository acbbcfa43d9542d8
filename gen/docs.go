package gen

import (
	"fmt"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
	"github.com/opcast/opcast/internal/transform"
)

// docs emits a page per op and their index.
func (g *generator) docs() error {
	for _, op := range g.ops {
		if err := g.render("docs/op.md.tmpl", "docs/ops/"+op.Name+".md", &docView{op}); err != nil {
			return err
		}
	}
	view := struct {
		Header string
		Ops    []*opView
	}{header(), g.ops}
	return g.render("docs/index.md.tmpl", "docs/ops/index.md", view)
}

// docView is an op as its page shows it.
type docView struct{ *opView }

// Signature is how an op is called and what it returns: "gelu(x, *, approximate) -> y".
func Signature(op *opdef.Op) string {
	return (&docView{&opView{Op: op}}).Call() + " -> " + strings.Join(opdef.ArgNames(op.Results()), ", ")
}

// Call is the signature as users type it.
func (v *docView) Call() string {
	var parts []string
	for _, a := range v.Inputs {
		s := a.Name
		if a.Optional {
			s += "=None"
		}
		parts = append(parts, s)
	}
	if len(v.Attrs) > 0 {
		parts = append(parts, "*")
	}
	for i := range v.Attrs {
		a := &v.Attrs[i]
		if a.HasDefault {
			parts = append(parts, a.Name+"="+pyDefault(a))
		} else {
			parts = append(parts, a.Name)
		}
	}
	return v.Name + "(" + strings.Join(parts, ", ") + ")"
}

// pyFloat writes a float as Python's repr does, so that 1.0 does not become an int.
func pyFloat(v any) string {
	s := rule.Number(v)
	if f, ok := v.(float64); ok {
		s = strings.ReplaceAll(fmt.Sprint(f), "+", "")
	}
	if !strings.ContainsAny(s, ".en") {
		s += ".0"
	}
	return s
}

// DTypeNames maps each dtype variable to its long names.
func (v *docView) DTypeNames() []string {
	var out []string
	for _, d := range v.DTypes {
		out = append(out, fmt.Sprintf("`%s` is %s.", d.Name, rule.Or(rule.Long(d.OneOf))))
	}
	return out
}

// Formula is the reference as text.
func (v *docView) Formula() string {
	if v.Reference != "" {
		return strings.TrimSpace(v.Reference)
	}
	return strings.TrimSpace(v.ReferenceModule)
}

// AttrRow describes the values of an attr.
func (v *docView) AttrRow(a opdef.Attr) string {
	parts := []string{a.Type}
	if len(a.OneOf) > 0 {
		parts = append(parts, rule.Quoted(a.OneOf))
	}
	if a.Min != nil {
		parts = append(parts, "at least "+rule.Number(a.Min))
	}
	if a.Max != nil {
		parts = append(parts, "at most "+rule.Number(a.Max))
	}
	if a.HasDefault {
		parts = append(parts, "default "+defaultText(&a))
	}
	return strings.Join(parts, ", ")
}

// Facts says how the op behaves under transformations: "**vmap**: ...".
func (v *docView) Facts() []string {
	var out []string
	for _, f := range transform.Facts(v.Op) {
		out = append(out, "**"+f.Topic+"**: "+f.Text)
	}
	return out
}

// ResultRow is the name of a result, and when it exists.
func (v *docView) ResultRow(a opdef.Arg) string {
	switch {
	case a.PresentIf != "":
		return "`" + a.Name + "` (with `" + a.PresentIf + "`)"
	case a.Mutated:
		return "`" + a.Name + "` (overwritten)"
	}
	return "`" + a.Name + "`"
}

// KernelNames lists the variants.
func (v *docView) KernelNames() string { return strings.ReplaceAll(kernelNames(v.opView), ",", ", ") }
