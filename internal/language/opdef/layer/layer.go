// Package layer reads what definitions say about layers: which modules of frameworks an op stands for, where these have the
// op's arguments, and which of their settings it honours.
package layer

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// Key is the key of a definition that holds layers.
const Key = "layers"

var (
	classPattern   = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	settingPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Values converts a TOML value for an attribute, and says how a converted one breaks the attribute's range.
type Values struct {
	Convert func(*opdef.Attr, any) (any, bool)
	Outside func(*opdef.Attr, any) string
}

// checker turns the raw layers of one op into its layers.
type checker struct {
	op     *opdef.Op
	doc    *tomldoc.Document
	diags  *diag.List
	values Values
	// raw and path are the layer at hand, out what becomes of it.
	raw  Raw
	path string
	out  *opdef.Layer
}

// Check sets the layers of an op, which has its arguments already. An op that says nothing has one, unless it cannot have any.
func Check(op *opdef.Op, raw []Raw, doc *tomldoc.Document, values Values, diags *diag.List) {
	c := &checker{op: op, doc: doc, values: values, diags: diags}
	possible := len(op.Mutated()) == 0 && !op.HasLists() && len(op.Inputs) > 0
	switch {
	case !doc.Has(Key) && possible:
		op.Layers = []opdef.Layer{implied(op)}
	case doc.Given(Key) && !possible:
		c.report(Key, "leave them out", "an op that overwrites inputs or has lists of arrays has no layers")
	default:
		for i := range raw {
			c.raw, c.path, c.out = raw[i], tomldoc.Element(Key, i), &opdef.Layer{}
			if !doc.Tainted(c.path) {
				c.layer()
				op.Layers = append(op.Layers, *c.out)
			}
		}
	}
}

// implied is the layer of an op that does not mention any: its caller gives all arrays, and it has the attributes.
func implied(op *opdef.Op) opdef.Layer {
	l := opdef.Layer{Name: opdef.LayerName(op.Name), Implied: true}
	for _, in := range op.Inputs {
		l.Inputs = append(l.Inputs, opdef.LayerArg{Name: in.Name, Data: true})
	}
	for _, a := range op.Attrs {
		l.Attrs = append(l.Attrs, opdef.LayerArg{Name: a.Name, Reads: []string{a.Name}})
	}
	return l
}

func (c *checker) report(path, hint, format string, args ...any) {
	c.diags.Add(c.doc.At(path), code.Layer, hint, format, args...)
}

// at is the path of a key of the layer at hand.
func (c *checker) at(key string) string { return tomldoc.Join(c.path, key) }

func (c *checker) layer() {
	c.class()
	c.out.Ignores, c.out.Joins, c.out.Then, c.out.Trailing = c.raw.Ignores, c.raw.Joins, c.raw.Then, c.raw.Trailing
	c.arguments()
	c.expects()
	c.shapes()
	c.settings()
}

// class checks the names of the layer and of what it stands in for.
func (c *checker) class() {
	c.out.Name, c.out.Module, c.out.Classes = c.raw.Name, c.raw.Module, c.raw.Classes
	if modules := modules(); c.doc.Given(c.at("module")) && !slices.Contains(modules, c.raw.Module) {
		c.report(c.at("module"), diag.DidYouMean(c.raw.Module, modules, "leave it out for a layer that is none of a framework"),
			"%q is no module of a framework", c.raw.Module)
	}
	where := c.at("name")
	if !c.doc.Has(where) {
		where = c.at("module")
		c.out.Name = c.raw.Module[strings.LastIndex(c.raw.Module, ".")+1:]
		if c.out.Name == "" && !c.doc.Has(where) {
			c.diags.Add(c.doc.At(c.path), code.Missing, "module gives it one, too", "missing key %q", "name")
			return
		}
	}
	if name := c.out.Name; !c.doc.Tainted(where) && (!classPattern.MatchString(name) || len(name) > names.MaxLength) {
		c.diags.Add(c.doc.At(where), code.Name, "a capital letter, then letters and digits", "%q is no name of a layer", name)
	} else if why := c.taken(name); why != "" {
		c.diags.Add(c.doc.At(where), code.Reserved, "choose another name", "%q is reserved: %s", name, why)
	}
	for i, class := range c.raw.Classes {
		if at := tomldoc.Element(c.at("classes"), i); !c.doc.Tainted(at) && !settingPattern.MatchString(class) {
			c.diags.Add(c.doc.At(at), code.Name, "the name alone, without its module", "%q is no name of a class", class)
		}
	}
}

// taken says why a layer cannot have a name, or "".
func (c *checker) taken(name string) string {
	for _, fw := range framework.All() {
		if slices.Contains(fw.Layers.Reserved, name) {
			return "used by generated code"
		}
	}
	return names.WhyReserved(name)
}

// modules are those of all frameworks.
func modules() (all []string) {
	for _, fw := range framework.All() {
		all = append(all, fw.Layers.Modules...)
	}
	return all
}

// settings checks the form of all names of settings, and that none is named twice.
func (c *checker) settings() {
	seen := map[string]bool{}
	note := func(path, name string) {
		switch {
		case c.doc.Tainted(path):
		case !settingPattern.MatchString(name):
			c.diags.Add(c.doc.KeyAt(path), code.Name, "letters, digits and underscores", "%q is no name of a setting", name)
		case seen[name]:
			c.diags.Add(c.doc.KeyAt(path), code.Duplicate, "name each setting once", "the layer names the setting %s twice", name)
		}
		seen[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(c.raw.Reads)) {
		for i, setting := range c.raw.Reads[name] {
			note(tomldoc.Element(tomldoc.Join(c.at("reads"), name), i), setting)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.raw.Expects)) {
		note(tomldoc.Join(c.at("expects"), name), name)
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"ignores", c.raw.Ignores}, {"joins", c.raw.Joins}} {
		for i, setting := range list.names {
			note(tomldoc.Element(c.at(list.key), i), setting)
		}
	}
	for _, one := range [][2]string{{"then", c.raw.Then}, {"trailing", c.raw.Trailing}} {
		if c.doc.Given(c.at(one[0])) {
			note(c.at(one[0]), one[1])
		}
	}
}

// Names finds layers of one name, and layers that stand in for the same modules, in all of a project.
func Names(p *opdef.Project, diags *diag.List) {
	first := map[string]*opdef.Op{}
	note := func(op *opdef.Op, path, what string) {
		pos, given := op.Pos[path]
		if !given {
			pos = diag.Pos{File: op.File, Line: 1, Col: 1}
		}
		if other := first[what]; other == nil {
			first[what] = op
		} else if other == op || names.Pascal(other.Name) != names.Pascal(op.Name) { // two ops of one name are another mistake
			diags.Add(pos, code.Duplicate, "one layer of a project is enough", "%s of %s belongs to %s already", what, op.Name, other.Name)
		}
	}
	for _, op := range p.Ops {
		for i, l := range op.Layers {
			path := tomldoc.Element(Key, i)
			if l.Name == "" || l.Implied && op.DerivedFrom() != nil {
				continue
			}
			where := tomldoc.Join(path, "name")
			if _, given := op.Pos[where]; !given {
				where = tomldoc.Join(path, "module")
			}
			note(op, where, "the layer "+l.Name)
			if l.Module != "" {
				note(op, tomldoc.Join(path, "module"), "the module "+l.Module)
			}
			for j, class := range l.Classes {
				note(op, tomldoc.Element(tomldoc.Join(path, "classes"), j), "the class "+class)
			}
		}
	}
}

// Raw is a layer as a definition writes it.
type Raw struct {
	Name, Module   string
	Classes        []string
	Reads          map[string][]string
	Values, Absent map[string]any
	Expects        map[string]any
	Ignores        []string
	Rows, Trailing string
	Joins          []string
	Then           string
}
