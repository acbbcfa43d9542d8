package python

import (
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/rule"
)

// referencesView is the module of all references.
type referencesView struct {
	Header string
	Ops    []*referenceView
}

// Modules are the ops whose reference stands in a module of its own.
func (v *referencesView) Modules() []string {
	var out []string
	for _, op := range v.Ops {
		if op.ReferenceModule != "" {
			out = append(out, "reference_"+op.Name)
		}
	}
	return out
}

// UsesRules and UsesArithmetic say whether computing some let needs these modules.
func (v *referencesView) UsesRules() bool { return v.uses(ofRules) }

func (v *referencesView) UsesArithmetic() bool { return v.uses(ofArithmetic) }

func (v *referencesView) uses(module *regexp.Regexp) bool {
	return slices.ContainsFunc(v.Ops, func(op *referenceView) bool { return calls(module, op.lets()) })
}

// referenceView prints the reference of an op as a Python function.
type referenceView struct{ *checkView }

// references gives the references of a collection that has no kernels for the CPU: they are its slow kernels there.
func references(c *view.Collection) []view.Draft {
	if slices.Contains(c.Project.Manifest.Devices, "cpu") {
		return nil
	}
	var out []view.Draft
	all := &referencesView{Header: view.Header()}
	for _, op := range c.Ops {
		all.Ops = append(all.Ops, &referenceView{&checkView{op}})
		if op.ReferenceModule != "" {
			out = append(out, view.Draft{Template: "python/reference.py.tmpl", Path: c.Project.GeneratedModule("reference_" + op.Name), Data: op})
		}
	}
	return append(out, view.Draft{Template: "python/references.py.tmpl", Path: c.Project.GeneratedModule("references"), Data: all})
}

// Body is the reference's text in a function, line by line; empty if it stands in a module of its own.
func (v *referenceView) Body() []string {
	if v.ReferenceModule != "" {
		return nil
	}
	lines := strings.Split(strings.Trim(v.Reference, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(layout.Step+l, " ")
	}
	return lines
}

// Names are the parameters of the reference.
func (v *referenceView) Names() string {
	out := []string{"xp: Any"}
	for _, name := range v.ReferenceNames() {
		out = append(out, name+": Any")
	}
	return strings.Join(out, ", ")
}

// LetParameters are those of the function that computes the lets from the inputs and attributes.
func (v *referenceView) LetParameters() string {
	var out []string
	for _, name := range v.ReferenceNames()[:len(v.Inputs)+len(v.Attrs)] {
		out = append(out, variable(name).text+": Any")
	}
	return strings.Join(out, ", ")
}

// Lets are the lines of that function; nil if there are none to compute.
func (v *referenceView) Lets() []string {
	if len(v.Op.Lets) == 0 {
		return nil
	}
	body := v.lets()
	if calls(ofRules, body) || calls(ofArithmetic, body) {
		body = append(set(codef("%q", v.Name), code{text: "op"}), body...)
	}
	return lines(body)
}

// lets are the statements that compute the lets, and what they need.
func (v *referenceView) lets() []statement {
	var items []code
	for _, l := range v.Op.Lets {
		items = append(items, codef("%q: %s", l.Name, variable(l.Name)))
	}
	return dropUnused(slices.Concat(v.hoisted(), v.ruled(v.sizes), do("return {%s}", commaSeparated(items))))
}

// sizes are the statements of a rule that bind sizes; they were checked already.
func (v *referenceView) sizes(r rule.Rule) []statement {
	switch r.Kind {
	case rule.Rank:
		return set(codef("%s.shape", variable(r.Arg)), shapeOf(r.Arg))
	case rule.SizeBind, rule.Let:
		return v.size(r)
	}
	return nil
}
