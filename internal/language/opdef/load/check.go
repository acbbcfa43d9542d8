package load

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/collection"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/layer"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// checker turns one raw definition into an Op and reports what is wrong with it.
type checker struct {
	doc   *tomldoc.Document
	raw   raw.Op
	op    *opdef.Op
	diags *diag.List
	// names holds everything that shares the namespace of sizes, except the sizes themselves.
	names map[string]entity
	// sizes are the symbols that input types mention; perElement those that only list inputs do.
	sizes, perElement map[string]bool
	// fromOptional maps a size, or "*", to the optional input that alone binds it.
	fromOptional map[string]string
	lets         map[string]*expr.Expr
	// combinations is the number of dtype combinations, up to one more than are allowed.
	combinations int
	// open says that some declaration could not be read, so that an unknown symbol is no news.
	open bool
}

// entity is a declared name.
type entity struct {
	kind, path string
	attr       *opdef.Attr
}

// The kinds of entity, as messages call them.
const (
	kindInput, kindOutput, kindScratch = "input", "output", "scratch tensor"
	kindAttr, kindVar, kindLet         = "attribute", "dtype variable", "let"
)

// checkOp builds the op of a decoded file. Mistakes that concern several ops are found later.
func checkOp(op *opdef.Op, doc *tomldoc.Document, beside neighbours, diags *diag.List) {
	c := &checker{
		doc: doc, op: op, diags: diags,
		names: map[string]entity{}, sizes: map[string]bool{}, perElement: map[string]bool{},
		fromOptional: map[string]string{}, lets: map[string]*expr.Expr{},
	}
	doc.Decode(&c.raw)
	op.Pos = doc.Positions()
	c.texts(beside.module)
	c.header()
	c.dtypes()
	c.inputs()
	c.attrs()
	c.outputs()
	c.scratch()
	c.letNames()
	c.ownLeads()
	c.bind()
	c.lists()
	c.sizesOf()
	c.dtypeVars()
	c.memberNames()
	c.order()
	c.defaults()
	c.conditions()
	c.parallel()
	c.kernels()
	c.reference(beside)
	c.samples()
	c.workloads()
	c.tolerance()
	layer.Check(op, c.raw.Layers, doc, layer.Values{Convert: raw.Convert, Outside: raw.Outside}, diags)
}

func (c *checker) report(path, code, hint, format string, args ...any) {
	c.diags.Add(c.doc.At(path), code, hint, format, args...)
}

// syntax reports the error of ParseType or expr.Parse about the string at path.
func (c *checker) syntax(path, code string, err error) {
	syntax := &expr.SyntaxError{Text: err.Error()}
	errors.As(err, &syntax)
	c.diags.Add(c.doc.In(path, syntax.Col), code, syntax.Hint, "%s", syntax.Text)
}

// header checks the keys that stand alone.
func (c *checker) header() {
	c.needDoc("", "the op", c.raw.Doc)
	c.op.Doc, c.op.Backward, c.op.Forward = c.raw.Doc, c.raw.Backward, c.raw.Forward
	c.op.NoGrad = c.raw.NoGrad
	c.op.Since, c.op.Deprecated, c.op.Autocast = c.raw.Since, c.raw.Deprecated, c.raw.Autocast
	c.op.Kind = collection.NoKind
	if c.doc.Given("kind") {
		c.op.Kind = *c.raw.Kind
	} else if c.doc.Tainted("kind") {
		c.op.Pos["kind"] = c.doc.At("kind")
	}
	c.op.Deterministic = c.raw.Deterministic == nil || *c.raw.Deterministic
	if c.doc.Given("autocast") && !slices.Contains(opdef.Autocasts, c.raw.Autocast) {
		c.report("autocast", code.Choice, `"lower", "widest" or "float32"`, "unknown autocast %q", c.raw.Autocast)
	}
	if c.doc.Given("since") && !raw.VersionPattern.MatchString(c.raw.Since) {
		c.report("since", code.Version, `for example "0.2"`, "since: %q is not a version", c.raw.Since)
	}
	if c.doc.Given("deprecated") && !raw.DeprecatedPattern.MatchString(c.raw.Deprecated) {
		c.report("deprecated", code.Version, `write "use NAME; removed in VERSION"`,
			"deprecated: %q does not say what to use and when it is removed", c.raw.Deprecated)
	}
	for key, name := range map[string]string{"backward": c.raw.Backward, "forward": c.raw.Forward} {
		if c.doc.Given(key) && name == "" {
			c.report(key, code.Backward, "leave it out", "%s names no op", key)
		}
	}
}

// needDoc asks for a doc key beside path: one line that can stand in a comment and in a docstring.
func (c *checker) needDoc(path, what, doc string) {
	where := tomldoc.Join(path, "doc")
	switch {
	case c.doc.Tainted(where) || c.doc.Tainted(path):
	case strings.TrimSpace(doc) == "":
		c.report(where, code.NoDoc, `add doc = "One sentence."`, "%s has no doc", what)
	case strings.ContainsAny(doc, "\n\r\t\\") || strings.Contains(doc, `"""`):
		c.report(where, code.NoDoc, `leave out line breaks, backslashes and """`, "doc is not one plain line")
	}
}

// need asks for a key of path and says whether it is there with a value of the right type.
func (c *checker) need(path, key string) bool {
	where := tomldoc.Join(path, key)
	if c.doc.Has(where) {
		return !c.doc.Tainted(where)
	}
	c.report(path, code.Missing, "", "missing key %q", key)
	return false
}

const namespaceHint = "arguments, dtype variables and sizes share one namespace"

// declare adds a name, which stands at pos, to the shared namespace.
func (c *checker) declare(name string, e entity, pos diag.Pos) {
	if !c.checkName(name, pos) {
		return
	}
	if first, taken := c.names[name]; taken {
		c.diags.Add(pos, code.Duplicate, namespaceHint,
			"%s %s has the name of the %s in line %d", e.kind, name, first.kind, c.doc.KeyAt(first.path).Line)
		return
	}
	c.names[name] = e
}

// checkName reports a name that is malformed or reserved.
func (c *checker) checkName(name string, pos diag.Pos) bool {
	if !names.IsIdentifier(name) {
		c.diags.Add(pos, code.Name, names.FormHint(name, "a name has letters, digits and single underscores between them"), "%q is not a name", name)
		return false
	}
	if why := names.WhyReserved(name); why != "" {
		c.diags.Add(pos, code.Reserved, "choose another name", "%q is reserved: %s", name, why)
		return false
	}
	return true
}

// keys returns the sorted keys of a map.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
