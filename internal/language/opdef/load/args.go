package load

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// dtypes declares the dtype variables.
func (c *checker) dtypes() {
	c.combinations = 1
	for _, name := range keys(c.raw.DTypes) {
		path := tomldoc.Join("dtypes", name)
		c.declare(name, entity{kind: kindVar, path: path}, c.doc.KeyAt(path))
		c.dtypeList(path, c.raw.DTypes[name])
		c.combinations = min(c.combinations*max(1, len(c.raw.DTypes[name])), maxCombinations+1)
	}
	if c.combinations > maxCombinations {
		c.report("dtypes", code.DTypeList, "", "more than %d dtype combinations", maxCombinations)
	}
}

// maxCombinations bounds the code that an op's dtype variables instantiate.
const maxCombinations = 4096

func (c *checker) dtypeList(path string, list []string) {
	if len(list) == 0 && !c.doc.Tainted(path) {
		c.report(path, code.DTypeList, "list at least one dtype", "%s is empty", path)
	}
	for i, name := range list {
		where := tomldoc.Element(path, i)
		switch {
		case c.doc.Tainted(where):
		case !knownDType(name):
			c.report(where, code.DType, dtypeHint(name, "dtypes are "+diag.OneOf(dtypeNames())), "unknown dtype %q", name)
		case slices.Contains(list[:i], name):
			c.report(where, code.DTypeList, "", "%s is listed twice", name)
		}
	}
}

// arg checks what inputs, outputs and scratch tensors share, and parses the type.
func (c *checker) arg(kind, path, name, text string) opdef.Arg {
	if c.need(path, "name") {
		c.declare(name, entity{kind: kind, path: path}, c.doc.At(tomldoc.Join(path, "name")))
	}
	arg := opdef.Arg{Name: name}
	if !c.need(path, "type") {
		c.open = true
		return arg
	}
	where := tomldoc.Join(path, "type")
	t, err := opdef.ParseType(text)
	arg.Type = t
	if err != nil {
		c.syntax(where, code.Type, err)
		c.open = true
		return arg
	}
	if _, isVar := c.raw.DTypes[t.Var]; !isVar {
		arg.Type.DType, arg.Type.Var = t.Var, ""
		if !knownDType(t.Var) {
			hint := dtypeHint(t.Var, "declare it: dtypes."+t.Var+` = ["f32"]`, keys(c.raw.DTypes)...)
			c.diags.Add(c.doc.In(where, 0), code.DType, hint, "unknown dtype or dtype variable %q", t.Var)
		}
	}
	for i, d := range t.Dims {
		if d.Leading() && i > 0 {
			c.report(where, code.Leading, `write it once, before the other dims`, `%s: "*" and "..." stand for leading dims`, t.Text)
		}
	}
	return arg
}

func (c *checker) inputs() {
	if len(c.raw.Inputs) == 0 && !c.doc.Tainted("inputs") {
		c.report("inputs", code.NoArgs, "the first input decides on which device the op runs", "the op has no input")
		c.open = true
	}
	optional := ""
	for i, raw := range c.raw.Inputs {
		path := tomldoc.Element("inputs", i)
		arg := c.arg(kindInput, path, raw.Name, raw.Type)
		c.needDoc(path, "input "+raw.Name, raw.Doc)
		arg.Doc, arg.Optional, arg.Mutated, arg.List = raw.Doc, raw.Optional && i > 0, raw.Mutated, raw.List
		arg.Stride, arg.Sorted = raw.Stride, raw.Sorted
		switch {
		case raw.Optional && i == 0:
			c.report(path, code.Order, "the first input decides on which device the op runs", "the first input is optional")
		case raw.Optional:
			optional = raw.Name
		case optional != "":
			c.report(path, code.Order, "move it up; order = [...] can keep its place for callers in Python", "required input %s stands after the optional input %s", raw.Name, optional)
		}
		arg.LSE = c.lse(tomldoc.Join(path, "lse"), raw.LSE)
		c.stride(&arg, path)
		c.listInput(path, &arg)
		c.packs(path, &arg, raw.Packs)
		if arg.Type.Lead() == opdef.Broadcast {
			c.companion(&arg, path, tomldoc.Join(path, "type"), "lead")
		}
		c.op.Inputs = append(c.op.Inputs, arg)
	}
	c.ellipsis()
}

// stride checks the key and takes the name that the generated struct gives to the strides.
func (c *checker) stride(arg *opdef.Arg, path string) {
	where := tomldoc.Join(path, "stride")
	if !c.doc.Given(where) {
		return
	}
	if !slices.Contains(raw.Strides, arg.Stride) {
		c.report(where, code.Choice, `"last" (the last dim is dense) or "any"; leave it out for dense arrays`, "unknown stride %q", arg.Stride)
	}
	c.companion(arg, path, where, "layout")
}

// companion takes the name of what the generated struct has beside an input: NAME_layout or NAME_lead.
func (c *checker) companion(arg *opdef.Arg, path, where, kind string) {
	name := arg.Name + "_" + kind
	if taken, clash := c.names[name]; clash {
		c.report(where, code.Duplicate, "rename it", "the %s of %s has the name of the %s %s", kind, arg.Name, taken.kind, name)
	} else if arg.Name != "" {
		c.names[name] = entity{kind: kind, path: path}
	}
}

// ellipsis refuses combinations with "..." that have no meaning.
func (c *checker) ellipsis() {
	star := slices.ContainsFunc(c.op.Inputs, func(a opdef.Arg) bool { return a.Type.Lead() == opdef.Same })
	for i, arg := range c.op.Inputs {
		where := tomldoc.Join(tomldoc.Element("inputs", i), "type")
		switch {
		case arg.Type.Lead() != opdef.Broadcast:
		case star:
			c.report(where, code.Leading, "", `an op has either "*" or "..."`)
		case arg.Mutated:
			c.report(where, code.Leading, `use "*"`, `mutated input %s cannot be broadcast`, arg.Name)
		case arg.List:
			c.report(where, code.List, `use "*"`, `the arrays of list %s cannot be broadcast`, arg.Name)
		}
	}
}

func (c *checker) outputs() {
	mutates := slices.ContainsFunc(c.op.Inputs, func(a opdef.Arg) bool { return a.Mutated })
	always := slices.ContainsFunc(c.op.Inputs, func(a opdef.Arg) bool { return a.Mutated && !a.Optional })
	if len(c.raw.Outputs) == 0 && !mutates && !c.doc.Tainted("outputs") {
		c.report("outputs", code.NoArgs, "declare an output, or an input with mutated = true", "the op has no result")
	}
	if len(c.raw.Outputs) == 0 && mutates && !always && !c.doc.Tainted("outputs") {
		c.report("outputs", code.NoArgs, "declare an output, or a required input that is overwritten",
			"a call that leaves out what the op overwrites has no result")
	}
	for i, raw := range c.raw.Outputs {
		path := tomldoc.Element("outputs", i)
		arg := c.arg(kindOutput, path, raw.Name, raw.Type)
		c.needDoc(path, "output "+raw.Name, raw.Doc)
		arg.Doc, arg.Saved = raw.Doc, raw.Saved
		if c.doc.Given(tomldoc.Join(path, "present_if")) && c.decides(path, raw.PresentIf) {
			arg.PresentIf = raw.PresentIf
		}
		arg.LSE = c.lse(tomldoc.Join(path, "lse"), raw.LSE)
		arg.Valid, arg.Per, arg.List = raw.Valid, raw.List, raw.List != ""
		c.listOutput(path, &arg)
		c.packs(path, &arg, raw.Packs)
		c.saved(path, arg)
		c.op.Outputs = append(c.op.Outputs, arg)
	}
	for i := range c.op.Outputs {
		c.valid(tomldoc.Join(tomldoc.Element("outputs", i), "valid"), &c.op.Outputs[i])
	}
	c.returned()
}

// returned checks that a call gives something back.
func (c *checker) returned() {
	always := func(a opdef.Arg) bool { return a.PresentIf == "" && !a.Optional }
	var flags []string
	for i := range c.op.Outputs {
		if flag := c.op.Switch(&c.op.Outputs[i]); flag != nil && !slices.Contains(flags, flag.Name) {
			flags = append(flags, flag.Name)
		}
	}
	switch results := c.op.Results(); {
	case len(c.op.Outputs) == 0:
	case len(results) == 0:
		c.report("outputs", code.NoArgs, "let one output not be saved", "the op returns nothing: every output is saved")
	case len(flags) > 0 && !slices.ContainsFunc(results, always):
		c.report("outputs", code.NoArgs, "let one output exist in every call", "a call in which %s is false may return nothing", strings.Join(flags, " or "))
	}
}

// saved checks where saved outputs may stand: they are computed all or none, and leave no gap in the results.
func (c *checker) saved(path string, arg opdef.Arg) {
	before := len(c.op.Outputs)
	switch {
	case arg.Saved && c.raw.Backward == "":
		c.report(tomldoc.Join(path, "saved"), code.Backward, "add backward, or leave saved out",
			"output %s is saved for a gradient that the op does not have", arg.Name)
	case arg.Saved && arg.PresentIf != "":
		c.report(tomldoc.Join(path, "saved"), code.Saved, "leave present_if out", "saved output %s depends on %s", arg.Name, arg.PresentIf)
	case !arg.Saved && before > 0 && c.op.Outputs[before-1].Saved:
		c.report(path, code.Saved, "move it up: saved outputs stand last", "output %s stands after the saved output %s",
			arg.Name, c.op.Outputs[before-1].Name)
	}
}

// decides checks what the existence of an output depends on.
func (c *checker) decides(path, name string) bool {
	i := c.op.InputIndex(name)
	says := func(a opdef.Attr) bool { return a.Name == name && a.Type == "bool" && !a.Optional }
	if i >= 0 && c.op.Inputs[i].Optional || slices.ContainsFunc(c.op.Attrs, says) {
		return true
	}
	hint := "name an optional input, or an attribute of type bool"
	c.report(tomldoc.Join(path, "present_if"), code.PresentIf, hint, "%q is no optional input, and no attribute that is always true or false", name)
	return false
}

// lse checks a log-sum-exp's convention, both halves of which must be said.
func (c *checker) lse(path string, given *raw.LSE) *opdef.LSE {
	if given == nil {
		return nil
	}
	for _, key := range []struct {
		name, value string
		allowed     []string
	}{{"base", given.Base, raw.LSEBases}, {"empty", given.Empty, raw.LSEEmpties}} {
		if c.need(path, key.name) && !slices.Contains(key.allowed, key.value) {
			c.report(tomldoc.Join(path, key.name), code.LSE, "", "%s is %q, expected %s", key.name, key.value, diag.OneOf(key.allowed))
		}
	}
	return &opdef.LSE{Base: given.Base, Empty: given.Empty}
}

func (c *checker) scratch() {
	for i, raw := range c.raw.Scratch {
		path := tomldoc.Element("scratch", i)
		arg := c.arg(kindScratch, path, raw.Name, raw.Type)
		if c.doc.Has(tomldoc.Join(path, "doc")) {
			c.needDoc(path, "scratch tensor "+raw.Name, raw.Doc)
		}
		arg.Doc, arg.Zeroed = raw.Doc, raw.Zeroed
		c.op.Scratch = append(c.op.Scratch, arg)
	}
}

// valid checks that another output can count the rows of this one.
func (c *checker) valid(path string, arg *opdef.Arg) {
	if !c.doc.Given(path) {
		return
	}
	i := slices.IndexFunc(c.op.Outputs, func(a opdef.Arg) bool { return a.Name == arg.Valid })
	dims := arg.Type.Dims
	switch {
	case i < 0 || arg.Valid == arg.Name:
		c.report(path, code.Valid, "name an output such as i32[1]", "%q is no other output", arg.Valid)
	case !c.counts(&c.op.Outputs[i]):
		c.report(path, code.Valid, `declare it as "i32[1]"`, "%s cannot count rows: it is %s", arg.Valid, c.op.Outputs[i].Type.Text)
	case len(dims) == 0 || dims[0].Expr == nil:
		c.report(path, code.Valid, "let its first dim be that of the rows", "%s has no rows to count: it is %s", arg.Name, arg.Type.Text)
	case c.raw.Backward != "" || c.raw.Forward != "":
		c.report(path, code.Valid, "leave backward and forward out", "an op with rows that mean nothing cannot have a derivative")
	case arg.PresentIf != "" || c.op.Outputs[i].PresentIf != "":
		c.report(path, code.Valid, "leave present_if out", "neither %s nor %s can depend on what may be absent", arg.Name, arg.Valid)
	}
}

// counts says whether an output is one integer.
func (c *checker) counts(a *opdef.Arg) bool {
	one := len(a.Type.Dims) == 0 || len(a.Type.Dims) == 1 && a.Type.Dims[0].Expr != nil && isConstant(a.Type.Dims[0].Expr, 1)
	return one && (a.Type.DType == "i32" || a.Type.DType == "i64")
}
