package opdef

import (
	"errors"
	"strings"
	"unicode"

	"github.com/opcast/opcast/internal/diag"
)

// checker turns one raw definition into an Op and reports what is wrong with it.
type checker struct {
	doc   *document
	raw   rawOp
	op    *Op
	diags *diag.List
	// names holds everything that shares the namespace of sizes, except the sizes themselves.
	names map[string]entity
	// sizes are the symbols that input types mention; perElement those that only list inputs do.
	sizes, perElement map[string]bool
	// fromOptional maps a size, or "*", to the optional input that alone binds it.
	fromOptional map[string]string
	lets         map[string]*Expr
	// combinations is the number of dtype combinations, up to one more than are allowed.
	combinations int
	// open says that some declaration could not be read, so that an unknown symbol is no news.
	open bool
}

// entity is a declared name.
type entity struct {
	kind, path string
	attr       *Attr
}

// The kinds of entity, as messages call them.
const (
	kindInput, kindOutput, kindScratch = "input", "output", "scratch tensor"
	kindAttr, kindVar, kindLet         = "attribute", "dtype variable", "let"
)

// checkOp builds the op of a decoded file. Mistakes that concern several ops are found later.
func checkOp(op *Op, doc *document, module string, diags *diag.List) {
	c := &checker{
		doc: doc, op: op, diags: diags,
		names: map[string]entity{}, sizes: map[string]bool{}, perElement: map[string]bool{},
		fromOptional: map[string]string{}, lets: map[string]*Expr{},
	}
	doc.decode(&c.raw)
	op.Pos = map[string]diag.Pos{}
	for path := range doc.places {
		op.Pos[path] = doc.at(path)
	}
	c.header()
	c.dtypes()
	c.inputs()
	c.attrs()
	c.outputs()
	c.scratch()
	c.letNames()
	c.bind()
	c.sizesOf()
	c.dtypeVars()
	c.defaults()
	c.conditions()
	c.parallel()
	c.kernels()
	c.reference(module)
	c.samples()
	c.tolerance()
}

func (c *checker) report(path, code, hint, format string, args ...any) {
	c.diags.Add(c.doc.at(path), code, hint, format, args...)
}

// syntax reports the error of ParseType or ParseExpr about the string at path.
func (c *checker) syntax(path, code string, err error) {
	fault := &SyntaxError{Text: err.Error()}
	errors.As(err, &fault)
	c.diags.Add(c.doc.in(path, fault.Col), code, fault.Hint, "%s", fault.Text)
}

// header checks the keys that stand alone.
func (c *checker) header() {
	c.needDoc("", "the op", c.raw.Doc)
	c.op.Doc, c.op.Backward = c.raw.Doc, c.raw.Backward
	c.op.Since, c.op.Deprecated = c.raw.Since, c.raw.Deprecated
	c.op.Kind = noKind
	if c.doc.given("kind") {
		c.op.Kind = *c.raw.Kind
	} else if c.doc.tainted("kind") {
		c.op.Pos["kind"] = c.doc.at("kind")
	}
	c.op.Deterministic = c.raw.Deterministic == nil || *c.raw.Deterministic
	if c.doc.given("since") && !versionPattern.MatchString(c.raw.Since) {
		c.report("since", codeVersion, `for example "0.2"`, "since: %q is not a version", c.raw.Since)
	}
	if c.doc.given("deprecated") && !deprecatedPattern.MatchString(c.raw.Deprecated) {
		c.report("deprecated", codeVersion, `write "use NAME; removed in VERSION"`,
			"deprecated: %q does not say what to use and when it is removed", c.raw.Deprecated)
	}
	if c.doc.given("backward") && c.raw.Backward == "" {
		c.report("backward", codeBackward, "leave it out", "backward names no op")
	}
}

// needDoc asks for a doc key beside path: one line that can stand in a comment and in a docstring.
func (c *checker) needDoc(path, what, doc string) {
	where := join(path, "doc")
	switch {
	case c.doc.tainted(where) || c.doc.tainted(path):
	case strings.TrimSpace(doc) == "":
		c.report(where, codeNoDoc, `add doc = "One sentence."`, "%s has no doc", what)
	case strings.ContainsFunc(doc, unicode.IsControl) || strings.Contains(doc, `\`) || strings.Contains(doc, `"""`):
		c.report(where, codeNoDoc, `leave out line breaks, backslashes and """`, "doc is not one plain line")
	}
}

// need asks for a key of path and says whether it is there with a value of the right type.
func (c *checker) need(path, key string) bool {
	where := join(path, key)
	if c.doc.has(where) {
		return !c.doc.tainted(where)
	}
	c.report(path, codeMissing, "", "missing key %q", key)
	return false
}

const namespaceHint = "arguments, dtype variables and sizes share one namespace"

// declare adds a name, which stands at pos, to the shared namespace.
func (c *checker) declare(name string, e entity, pos diag.Pos) {
	if !c.checkName(name, pos) {
		return
	}
	if first, taken := c.names[name]; taken {
		c.diags.Add(pos, codeDuplicate, namespaceHint,
			"%s %s has the name of the %s in line %d", e.kind, name, first.kind, c.doc.keyAt(first.path).Line)
		return
	}
	c.names[name] = e
}

// checkName reports a name that is malformed or reserved.
func (c *checker) checkName(name string, pos diag.Pos) bool {
	if !isIdentifier(name) {
		c.diags.Add(pos, codeName, "a name has letters, digits and single underscores between them", "%q is not a name", name)
		return false
	}
	if why := whyReserved(name); why != "" {
		c.diags.Add(pos, codeReserved, "choose another name", "%q is reserved: %s", name, why)
		return false
	}
	return true
}
