package load

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
)

// order checks the order of the parameters: each name is one, once, and no input is left out.
func (c *checker) order() {
	inputs := opdef.ArgNames(c.op.Inputs)
	all := slices.Clone(inputs)
	for i := range c.op.Attrs {
		all = append(all, c.op.Attrs[i].Name)
	}
	for i, name := range c.raw.Order {
		at := fmt.Sprintf("order[%d]", i)
		switch {
		case !slices.Contains(all, name):
			c.report(at, code.Parameters, diag.DidYouMean(name, all, "name inputs and attributes"), "order: there is no input or attribute %q", name)
		case slices.Contains(c.raw.Order[:i], name):
			c.report(at, code.Parameters, "", "order: %s is listed twice", name)
		}
	}
	if !c.doc.Given("order") {
		return
	}
	if i := slices.IndexFunc(c.op.Inputs, func(a opdef.Arg) bool { return a.List }); i >= 0 {
		c.report("order", code.Parameters, "", "order: an op with lists of arrays has none, and %s is a list", c.op.Inputs[i].Name)
	}
	for _, name := range inputs {
		if !slices.Contains(c.raw.Order, name) {
			c.report("order", code.Parameters, "add it: every input can be given by its place", "order: the input %s is missing", name)
		}
	}
	c.op.Order = c.raw.Order
}
