package load

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// dtypeVars orders the dtype variables and checks that each is bound and used.
func (c *checker) dtypeVars() {
	var mentioned []string
	mention := func(args []opdef.Arg) {
		for _, a := range args {
			if a.Type.Var != "" && !slices.Contains(mentioned, a.Type.Var) {
				mentioned = append(mentioned, a.Type.Var)
			}
		}
	}
	mention(c.op.Inputs)
	mention(c.op.Outputs)
	mention(c.op.Scratch)
	for _, name := range keys(c.raw.DTypes) {
		if !slices.Contains(mentioned, name) {
			mentioned = append(mentioned, name)
			if !c.open {
				path := tomldoc.Join("dtypes", name)
				c.diags.Add(c.doc.KeyAt(path), code.DTypeVar, "", "no argument has the dtype variable %s", name)
			}
		}
	}
	for _, name := range mentioned {
		if list, ok := c.raw.DTypes[name]; ok {
			c.op.DTypes = append(c.op.DTypes, opdef.DTypeVar{Name: name, OneOf: list})
			c.dtypeVar(name)
		}
	}
}

// dtypeVar checks that a required input, one dtype attribute or one optional input sets the variable.
func (c *checker) dtypeVar(name string) {
	if _, bound := c.requiredInput(name); bound || c.op.OptionalDType(name) != "" {
		return
	}
	for _, a := range c.op.Attrs {
		if a.Binds == name {
			c.carried(name, a.Name)
			return
		}
	}
	pos, hint := c.doc.KeyAt(tomldoc.Join("dtypes", name)), `give it to a required input, or to a dtype attribute with binds = "`+name+`"`
	for _, in := range c.op.Inputs {
		if in.Type.Var == name {
			hint += ", or let " + in.Name + " alone have it"
			c.diags.Add(pos, code.Optional, hint, "dtype variable %s is bound only by the optional input %s", name, in.Name)
			return
		}
	}
	for _, arg := range slices.Concat(c.op.Outputs, c.op.Scratch) {
		if arg.Type.Var == name && !c.open {
			c.diags.Add(pos, code.DTypeVar, hint, "nothing sets the dtype variable %s of %s", name, arg.Name)
			return
		}
	}
}

// carried checks that a call of the library knows a dtype that an attribute sets: the attribute is not passed to it, so that
// an output must have the dtype. If other arrays have it too, or a condition or a kernel asks for it, the output must always
// be there.
func (c *checker) carried(name, attr string) {
	outputs, always, all := 0, false, 0
	for _, arg := range slices.Concat(c.op.Outputs, c.op.Inputs, c.op.Scratch) {
		if arg.Type.Var == name {
			all++
		}
	}
	for _, out := range c.op.Outputs {
		if out.Type.Var == name {
			outputs++
			always = always || out.PresentIf == "" && !out.Saved
		}
	}
	if c.open || always || outputs == 1 && all == 1 && !c.asksFor(name) {
		return
	}
	pos := c.doc.KeyAt(tomldoc.Join("dtypes", name))
	c.diags.Add(pos, code.DTypeVar, "give it to an output that every call has", "no output tells the dtype variable %s, which the attribute %s sets", name, attr)
}

// asksFor says whether a condition or a kernel mentions a dtype variable.
func (c *checker) asksFor(name string) bool {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(c.raw.Require, word.MatchString) || slices.ContainsFunc(c.raw.Kernels, func(k raw.Kernel) bool {
		_, narrowed := k.DTypes[name]
		return narrowed || word.MatchString(k.When)
	})
}

// requiredInput finds the first required input of the given dtype variable.
func (c *checker) requiredInput(name string) (input string, ok bool) {
	for _, in := range c.op.Inputs {
		if in.Type.Var == name && !in.Optional {
			return in.Name, true
		}
	}
	return "", false
}

// binds checks what a dtype attribute sets, and its default.
func (c *checker) binds(a *opdef.Attr, path string) {
	where := tomldoc.Join(path, "binds")
	if !c.need(path, "binds") {
		return
	}
	list, ok := c.raw.DTypes[a.Binds]
	switch input, bound := c.requiredInput(a.Binds); {
	case !ok:
		hint := diag.DidYouMean(a.Binds, keys(c.raw.DTypes), "name a variable of dtypes")
		c.report(where, code.Binds, hint, "%q is no dtype variable", a.Binds)
		return
	case bound:
		c.report(where, code.Binds, "", "dtype variable %s is already set by the input %s", a.Binds, input)
	}
	for i := range c.op.Attrs {
		if other := &c.op.Attrs[i]; other == a {
			break
		} else if other.Binds == a.Binds {
			c.report(where, code.Binds, "", "dtype variable %s is already set by the attribute %s", a.Binds, other.Name)
		}
	}
	if name, ok := a.Default.(string); ok {
		c.dtypeDefault(a, tomldoc.Join(path, "default"), name, list)
	}
}

// dtypeDefault checks a default that is a dtype or a variable of the inputs, whose every dtype must be allowed.
func (c *checker) dtypeDefault(a *opdef.Attr, where, name string, allowed []string) {
	from, isVar := c.raw.DTypes[name]
	switch _, bound := c.requiredInput(name); {
	case !isVar:
		from = []string{name}
	case !bound:
		c.report(where, code.Range, "name a variable that an input sets", "default %q is a dtype variable that no required input has", name)
		return
	}
	for _, dtype := range from {
		if !slices.Contains(allowed, dtype) {
			c.report(where, code.Range, a.Binds+" is "+diag.OneOf(allowed), "default %q can be %s, which %s does not allow", name, dtype, a.Binds)
			return
		}
	}
}

// dtypeNames returns the short names of the dtypes that arguments can have.
func dtypeNames() (names []string) {
	for _, row := range dtype.Table {
		names = append(names, row.Short)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !knownDType(name) })
}

// knownDType says whether arguments can have a dtype: kernels need a C++ type for it.
func knownDType(name string) bool {
	row, ok := dtype.Lookup(name)
	return ok && row.CPP != ""
}

// dtypeHint suggests the short name for a misspelt or a long one, or one of more words.
func dtypeHint(name, otherwise string, more ...string) string {
	if slices.Contains(raw.Packed(), name) {
		return fmt.Sprintf("write u8 with packs = %q: each byte holds two numbers", name)
	}
	if row, ok := dtype.LookupAny(name); ok && row.CPP == "" {
		return "kernels have no C++ type for " + row.Long
	}
	if row, ok := dtype.LookupLong(name); ok {
		return fmt.Sprintf("write %q", row.Short)
	}
	return diag.DidYouMean(name, append(more, dtypeNames()...), otherwise)
}
