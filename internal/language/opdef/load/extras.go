package load

import (
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/flashinfer"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

var (
	returnPattern = regexp.MustCompile(`(?m)(^|[:;])\s*return\b`)
	modulePattern = regexp.MustCompile(`(?m)^def (reference|samples|independent|properties|peers)\(`)
)

// reference takes the op's meaning from the key or from a file beside the definition.
func (c *checker) reference(beside neighbours) {
	given, module := c.doc.Has("reference"), beside.module
	c.op.Reference, c.op.Module = c.raw.Reference, module
	defined := c.op.Defines("reference")
	if defined {
		c.op.ReferenceModule, c.op.ReferenceFile = module, beside.file(c.op, ".py")
	}
	if beside.formula != nil && !given && !defined {
		c.formula(beside)
		return
	}
	switch {
	case beside.broken: // which was told
	case given && defined:
		c.report("reference", code.Reference, "keep one of them", "reference is given here and in %s.py", c.op.Name)
	case !given && module == "":
		hint := "add reference, the body of a Python function over float64 arrays, or " + c.op.Name + ".py beside this file"
		c.report("", code.Reference, hint, "the op has no reference")
	case !given && !defined:
		c.report("", code.RefText, "define it: def reference(x): ...", "%s.py has no function reference", c.op.Name)
	case module != "" && !modulePattern.MatchString(module):
		c.report("", code.RefText, "define one, or delete the file", "%s.py defines none of reference, samples, independent, properties and peers", c.op.Name)
	case c.doc.Given("reference"):
		c.referenceText(c.raw.Reference)
	}
}

// formula takes the op's meaning from a definition of FlashInfer, and what that says of contents if the Python file says nothing.
func (c *checker) formula(beside neighbours) {
	c.op.ReferenceModule = strings.TrimLeft(beside.module+"\n\n"+beside.formula.Module(c.op), "\n")
	c.op.ReferenceFile, c.op.Formula = beside.file(c.op, flashinfer.Ending), beside.formula.Reference
	sampled := c.op.Defines("samples")
	if c.op.Module = c.op.ReferenceModule; !sampled {
		c.op.Module += beside.formula.Samples()
	}
}

// referenceText looks for slips that need no Python: no text, a wrong first indent, tabs, and nothing returned.
func (c *checker) referenceText(text string) {
	text = strings.TrimLeft(text, "\r\n")
	switch {
	case strings.TrimSpace(text) == "":
		c.report("reference", code.RefText, "write the body of a function", "the reference is empty")
	case text[0] == ' ' || text[0] == '\t':
		c.report("reference", code.RefText, "begin at the left margin", "the first line of the reference is indented")
	case strings.Contains(text, "\n\t") || strings.Contains(text, " \t"):
		c.report("reference", code.RefText, "indent with spaces", "the reference is indented with tabs")
	case !returnPattern.MatchString(text):
		c.report("reference", code.RefText, "end it with return", "the reference returns nothing")
	}
}

// samples checks the preferred sizes and attribute values.
func (c *checker) samples() {
	c.op.Samples = map[string][]any{}
	for _, name := range keys(c.raw.Samples) {
		path := tomldoc.Join("samples", name)
		known := c.names[name]
		if known.attr == nil && !c.sizes[name] {
			if !c.open {
				hint := diag.DidYouMean(name, append(keys(c.sizes), keys(c.names)...), "name a size or an attribute")
				c.diags.Add(c.doc.KeyAt(path), code.Samples, hint, "%s is neither a size nor an attribute", name)
			}
			continue
		}
		if len(c.raw.Samples[name]) == 0 && !c.doc.Tainted(path) {
			c.report(path, code.Samples, "", "samples.%s is empty", name)
		}
		for i, value := range c.raw.Samples[name] {
			if converted, ok := c.sample(tomldoc.Element(path, i), name, known.attr, value); ok {
				c.op.Samples[name] = append(c.op.Samples[name], converted)
			}
		}
	}
	for i, e := range c.op.Requires {
		c.feasible(tomldoc.Element("require", i), c.expand(e))
	}
}

// sample converts one value; sizes are integers from 0.
func (c *checker) sample(path, name string, attr *opdef.Attr, value any) (any, bool) {
	if attr == nil {
		attr = &opdef.Attr{Type: "int", Min: int64(0)}
	}
	converted, ok := raw.Convert(attr, value)
	if !ok {
		c.report(path, code.Samples, "", "samples.%s: %s is no value of type %s", name, tomldoc.Show(value), attr.Type)
		return nil, false
	}
	mistake := raw.Outside(attr, converted)
	if word, isText := converted.(string); isText && attr.Type == "dtype" && !slices.Contains(c.raw.DTypes[attr.Binds], word) {
		mistake = tomldoc.Show(value) + " is not allowed for " + attr.Binds
	}
	if mistake != "" {
		c.report(path, code.Samples, "", "samples.%s: %s", name, mistake)
	}
	return converted, mistake == ""
}

// feasible looks for samples that meet a requirement all of whose names have samples.
func (c *checker) feasible(path string, e *expr.Expr) {
	env, combinations := sampleEnv{}, 1
	names := e.Symbols()
	for _, name := range names {
		combinations *= max(1, len(c.op.Samples[name]))
		if len(c.op.Samples[name]) == 0 || combinations > maxCombinations {
			return
		}
	}
	if len(names) > 0 && !c.anySample(e, names, env) {
		c.report(path, code.NoSample, "change samples, or leave some of them out", "no combination of samples meets %q", e.Text)
	}
}

func (c *checker) anySample(e *expr.Expr, names []string, env sampleEnv) bool {
	if len(names) == 0 {
		v, err := e.Eval(env)
		return err == nil && v != 0
	}
	for _, value := range c.op.Samples[names[0]] {
		env[names[0]] = value
		if c.anySample(e, names[1:], env) {
			return true
		}
	}
	return false
}

// sampleEnv evaluates with sample values.
type sampleEnv map[string]any

func (s sampleEnv) Int(name string) (int64, bool) { return opdef.IntValue(s[name]) }

func (s sampleEnv) List(name string) ([]int64, bool) {
	v, ok := s[name].([]int64)
	return v, ok
}

func (s sampleEnv) Float(name string) (float64, bool) {
	v, ok := s[name].(float64)
	return v, ok
}

func (s sampleEnv) Word(name string) (string, bool) {
	v, ok := s[name].(string)
	return v, ok
}

// tolerance checks the overrides, which name dtypes of results.
func (c *checker) tolerance() {
	c.op.Tolerance = map[string]opdef.Tolerance{}
	for _, name := range keys(c.raw.Tolerance) {
		path := tomldoc.Join("tolerance", name)
		switch {
		case !knownDType(name) && !slices.Contains(raw.Packed(), name):
			c.diags.Add(c.doc.KeyAt(path), code.Tolerance, dtypeHint(name, "dtypes are "+diag.OneOf(dtypeNames())), "unknown dtype %q", name)
		case !c.open && !slices.Contains(c.resultDTypes(), name):
			c.diags.Add(c.doc.KeyAt(path), code.Tolerance, "results are "+diag.OneOf(c.resultDTypes()), "no result has the dtype %s", name)
		}
		raw := c.raw.Tolerance[name]
		if !c.need(path, "rtol") || !c.need(path, "atol") {
			continue
		}
		c.op.Tolerance[name] = opdef.Tolerance{RTol: *raw.RTol, ATol: *raw.ATol}
		if *raw.RTol < 0 || *raw.ATol < 0 {
			c.report(path, code.Tolerance, "", "a tolerance cannot be negative")
		}
	}
}

// resultDTypes lists the dtypes that outputs and mutated inputs may have.
func (c *checker) resultDTypes() []string {
	var list []string
	for _, arg := range slices.Concat(c.op.Outputs, c.op.Inputs) {
		if i := c.op.InputIndex(arg.Name); i >= 0 && !arg.Mutated {
			continue
		}
		if arg.Packs != "" {
			list = append(list, arg.Packs)
			continue
		}
		if arg.Type.Var == "" {
			list = append(list, arg.Type.DType)
		}
		list = append(list, c.raw.DTypes[arg.Type.Var]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
