package opdef

import (
	"slices"

	"github.com/opcast/opcast/internal/diag"
)

// dtypes declares the dtype variables.
func (c *checker) dtypes() {
	c.combinations = 1
	for _, name := range keys(c.raw.DTypes) {
		path := join("dtypes", name)
		c.declare(name, entity{kind: kindVar, path: path}, c.doc.keyAt(path))
		c.dtypeList(path, c.raw.DTypes[name])
		c.combinations = min(c.combinations*max(1, len(c.raw.DTypes[name])), maxCombinations+1)
	}
	if c.combinations > maxCombinations {
		c.report("dtypes", codeDTypeList, "", "more than %d dtype combinations", maxCombinations)
	}
}

// maxCombinations bounds the code that an op's dtype variables instantiate.
const maxCombinations = 4096

func (c *checker) dtypeList(path string, list []string) {
	if len(list) == 0 && !c.doc.tainted(path) {
		c.report(path, codeDTypeList, "list at least one dtype", "%s is empty", path)
	}
	for i, name := range list {
		where := element(path, i)
		switch {
		case c.doc.tainted(where):
		case !knownDType(name):
			c.report(where, codeDType, dtypeHint(name, "dtypes are "+diag.OneOf(dtypeNames())), "unknown dtype %q", name)
		case slices.Contains(list[:i], name):
			c.report(where, codeDTypeList, "", "%s is listed twice", name)
		}
	}
}

// arg checks what inputs, outputs and scratch tensors share, and parses the type.
func (c *checker) arg(kind, path, name, text string) Arg {
	if c.need(path, "name") {
		c.declare(name, entity{kind: kind, path: path}, c.doc.at(join(path, "name")))
	}
	arg := Arg{Name: name}
	if !c.need(path, "type") {
		c.open = true
		return arg
	}
	where := join(path, "type")
	t, err := ParseType(text)
	arg.Type = t
	if err != nil {
		c.syntax(where, codeType, err)
		c.open = true
		return arg
	}
	if _, isVar := c.raw.DTypes[t.Var]; !isVar {
		arg.Type.DType, arg.Type.Var = t.Var, ""
		if !knownDType(t.Var) {
			hint := dtypeHint(t.Var, "declare it: dtypes."+t.Var+` = ["f32"]`, keys(c.raw.DTypes)...)
			c.diags.Add(c.doc.in(where, 0), codeDType, hint, "unknown dtype or dtype variable %q", t.Var)
		}
	}
	for i, d := range t.Dims {
		if (d.Star || d.Ellipsis) && i > 0 {
			c.report(where, codeLeading, `write it once, before the other dims`, `%s: "*" and "..." stand for leading dims`, t.Text)
		}
	}
	return arg
}

func (c *checker) inputs() {
	if len(c.raw.Inputs) == 0 && !c.doc.tainted("inputs") {
		c.report("inputs", codeNoArgs, "the first input decides on which device the op runs", "the op has no input")
		c.open = true
	}
	optional := ""
	for i, raw := range c.raw.Inputs {
		path := element("inputs", i)
		arg := c.arg(kindInput, path, raw.Name, raw.Type)
		c.needDoc(path, "input "+raw.Name, raw.Doc)
		arg.Doc, arg.Optional, arg.Mutated, arg.List = raw.Doc, raw.Optional && i > 0, raw.Mutated, raw.List
		arg.Stride, arg.Sorted = raw.Stride, raw.Sorted
		switch {
		case raw.Optional && i == 0:
			c.report(path, codeOrder, "the first input decides on which device the op runs", "the first input is optional")
		case raw.Optional:
			optional = raw.Name
		case optional != "":
			c.report(path, codeOrder, "move it up", "required input %s stands after the optional input %s", raw.Name, optional)
		}
		c.stride(&arg, path)
		c.op.Inputs = append(c.op.Inputs, arg)
	}
	c.ellipsis()
}

// stride checks the key and takes the name that the generated struct gives to the strides.
func (c *checker) stride(arg *Arg, path string) {
	where := join(path, "stride")
	if !c.doc.given(where) {
		return
	}
	if arg.Stride != "last" && arg.Stride != "any" {
		c.report(where, codeChoice, `"last" (the last dim is dense) or "any"; leave it out for dense arrays`, "unknown stride %q", arg.Stride)
	}
	if taken, clash := c.names[arg.Name+"_layout"]; clash {
		c.report(where, codeDuplicate, "rename it", "the layout of %s has the name of the %s %s_layout", arg.Name, taken.kind, arg.Name)
	} else if arg.Name != "" {
		c.names[arg.Name+"_layout"] = entity{kind: "layout", path: path}
	}
}

// ellipsis refuses combinations with "..." that have no meaning.
func (c *checker) ellipsis() {
	star := slices.ContainsFunc(c.op.Inputs, func(a Arg) bool { return a.Type.leads() == "*" })
	for i, arg := range c.op.Inputs {
		where := join(element("inputs", i), "type")
		switch {
		case arg.Type.leads() != "...":
		case star:
			c.report(where, codeLeading, "", `an op has either "*" or "..."`)
		case arg.Mutated:
			c.report(where, codeLeading, `use "*"`, `mutated input %s cannot be broadcast`, arg.Name)
		case arg.List:
			c.report(where, codeLeading, `use "*"`, `the arrays of list %s cannot be broadcast`, arg.Name)
		}
	}
}

// leads returns "*", "..." or "", the way in which the type's leading dims are open.
func (t Type) leads() string {
	switch {
	case len(t.Dims) > 0 && t.Dims[0].Star:
		return "*"
	case len(t.Dims) > 0 && t.Dims[0].Ellipsis:
		return "..."
	}
	return ""
}

func (c *checker) outputs() {
	mutates := slices.ContainsFunc(c.op.Inputs, func(a Arg) bool { return a.Mutated })
	if len(c.raw.Outputs) == 0 && !mutates && !c.doc.tainted("outputs") {
		c.report("outputs", codeNoArgs, "declare an output, or an input with mutated = true", "the op has no result")
	}
	for i, raw := range c.raw.Outputs {
		path := element("outputs", i)
		arg := c.arg(kindOutput, path, raw.Name, raw.Type)
		c.needDoc(path, "output "+raw.Name, raw.Doc)
		arg.Doc, arg.Saved, arg.PresentIf = raw.Doc, raw.Saved, raw.PresentIf
		if c.doc.given(join(path, "present_if")) {
			c.presentIf(path, raw.PresentIf)
		}
		if raw.LSE != nil {
			arg.LSE = &LSE{Base: raw.LSE.Base, Empty: raw.LSE.Empty}
			c.lse(join(path, "lse"), *raw.LSE)
		}
		c.saved(path, arg)
		c.op.Outputs = append(c.op.Outputs, arg)
	}
	if len(c.op.Outputs) > 0 && len(c.op.Results()) == 0 {
		c.report("outputs", codeNoArgs, "let one output not be saved", "the op returns nothing: every output is saved")
	}
}

// saved checks where saved outputs may stand: they are computed all or none, and leave no gap in the results.
func (c *checker) saved(path string, arg Arg) {
	before := len(c.op.Outputs)
	switch {
	case arg.Saved && c.raw.Backward == "":
		c.report(join(path, "saved"), codeBackward, "add backward, or leave saved out",
			"output %s is saved for a gradient that the op does not have", arg.Name)
	case arg.Saved && arg.PresentIf != "":
		c.report(join(path, "saved"), codeSaved, "leave present_if out", "saved output %s depends on an optional input", arg.Name)
	case !arg.Saved && before > 0 && c.op.Outputs[before-1].Saved:
		c.report(path, codeSaved, "move it up: saved outputs stand last", "output %s stands after the saved output %s",
			arg.Name, c.op.Outputs[before-1].Name)
	}
}

func (c *checker) presentIf(path, name string) {
	i := c.op.InputIndex(name)
	if i < 0 || !c.op.Inputs[i].Optional {
		c.report(join(path, "present_if"), codePresentIf, "name an optional input", "%q is no optional input", name)
	}
}

// lse checks a log-sum-exp's convention, both halves of which must be said.
func (c *checker) lse(path string, raw rawLSE) {
	for _, key := range []struct {
		name, value string
		allowed     []string
	}{{"base", raw.Base, []string{"e", "2"}}, {"empty", raw.Empty, []string{"-inf", "inf", "0"}}} {
		if c.need(path, key.name) && !slices.Contains(key.allowed, key.value) {
			c.report(join(path, key.name), codeLSE, "", "%s is %q, expected %s", key.name, key.value, diag.OneOf(key.allowed))
		}
	}
}

func (c *checker) scratch() {
	for i, raw := range c.raw.Scratch {
		path := element("scratch", i)
		arg := c.arg(kindScratch, path, raw.Name, raw.Type)
		if c.doc.has(join(path, "doc")) {
			c.needDoc(path, "scratch tensor "+raw.Name, raw.Doc)
		}
		arg.Doc, arg.Zeroed = raw.Doc, raw.Zeroed
		c.op.Scratch = append(c.op.Scratch, arg)
	}
}
